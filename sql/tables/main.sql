-- main: the paired boundary audit: accuracy, coverage and realized cost of both rules at the same budget.
-- grain: archive, budget
with points as (
    select
        *,
        100 * (advisory_correct - strict_correct) / replays as delta,
        100 * (advisory_covered - strict_covered) / replays as delta_coverage,
    from paired_points
    where replicate = 0
),
intervals as (
    select
        archive,
        budget,
        quantile_cont(100 * gained / replays, 0.025) as delta_low,
        quantile_cont(100 * gained / replays, 0.975) as delta_high,
    from paired_gains
    where replicate > 0 and is_primary
    group by archive, budget
)
select
    archive,
    budget,
    100 * strict_correct / replays as strict_accuracy,
    100 * advisory_correct / replays as advisory_accuracy,
    delta,
    delta_low,
    delta_high,
    100 * strict_covered / replays as strict_coverage,
    100 * advisory_covered / replays as advisory_coverage,
    delta_coverage,
    delta_coverage - delta as gap_change,
    strict_cost / replays as strict_cost,
    advisory_cost / replays as advisory_cost,
    strict_cost / (replays * budget) as strict_cost_ratio,
    advisory_cost / (replays * budget) as advisory_cost_ratio,
from points
left join intervals using (archive, budget)
order by archive, budget
