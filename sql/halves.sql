-- halves: the banks of an archive ranked by median attempt cost, ties by problem; the first half, rounded down, is shorter.
-- grain: bank_id
with medians as (
    select
        banks.bank_id,
        banks.archive_id,
        banks.problem_id,
        quantile_cont(candidates.completion_tokens::double, 0.5) as median_cost,
    from banks
    inner join candidates on banks.bank_id = candidates.bank_id
    group by banks.bank_id, banks.archive_id, banks.problem_id
)
select
    bank_id,
    archive_id,
    problem_id,
    case
        when row_number() over (partition by archive_id order by median_cost, problem_id)
            <= count(*) over (partition by archive_id) // 2
        then 'shorter'
        else 'longer'
    end as stratum,
from medians
