-- pools: how many eligible attempts each rule ends with, how often none, and the tail of the advisory cost.
-- grain: archive, budget
with pooled as (
    select
        banks.archive_id,
        stops.budget,
        stops.rule = 'strict' as is_strict,
        stops.rule = 'advisory' as is_advisory,
        stops.returned,
        stops.cost,
        coalesce(eligible_counts.eligible_count, 0) as eligible_count,
    from primary_stops as stops
    inner join banks on stops.bank_id = banks.bank_id
    left join eligible_counts
        on stops.walk_id = eligible_counts.walk_id
        and stops.returned = eligible_counts.position
    where stops.repeat > 0
)
select
    any_value(archives.archive) as archive,
    budget,
    sum(eligible_count) filter (is_strict) / count(*) filter (is_strict) as strict_eligible,
    sum(eligible_count) filter (is_advisory) / count(*) filter (is_advisory) as advisory_eligible,
    100 * count(*) filter (is_strict and eligible_count = 0) / count(*) filter (is_strict) as strict_abstention,
    100 * count(*) filter (is_advisory and eligible_count = 0) / count(*) filter (is_advisory) as advisory_abstention,
    100 * count(*) filter (is_advisory and returned = 1) / count(*) filter (is_advisory) as advisory_one_return,
    quantile_cont(cost::double, 0.95) filter (is_advisory) as advisory_p95,
    quantile_cont(cost::double, 0.95) filter (is_advisory) / budget as p95_ratio,
    count(*) filter (is_advisory and eligible_count = 0) as advisory_empty,
    count(*) filter (is_advisory and eligible_count = 1) as advisory_single,
    count(*) filter (is_advisory and eligible_count >= 2) as advisory_multi,
from pooled
inner join archives on pooled.archive_id = archives.archive_id
group by pooled.archive_id, budget
order by archive, budget
