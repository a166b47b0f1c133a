-- length_halves: the banks of an archive ranked by median attempt cost, ties by problem; the first
--     half, rounded down, is shorter.
-- grain: archive, problem_id
with medians as (
    select
        banks.bank_id,
        archives.archive,
        banks.problem_id,
        quantile_cont(candidates.cost::double, 0.5) as median_cost,
    from banks
    inner join archives on banks.archive_id = archives.archive_id
    inner join candidates on banks.bank_id = candidates.bank_id
    group by banks.bank_id, archives.archive, banks.problem_id
)
select
    bank_id,
    archive,
    problem_id,
    case
        when row_number() over (partition by archive order by median_cost, problem_id)
            <= count(*) over (partition by archive) // 2
        then 'shorter'
        else 'longer'
    end as stratum,
from medians
