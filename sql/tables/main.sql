-- main: the paired boundary audit: accuracy, coverage and realized cost of both rules at the same budget.
-- grain: archive, budget
with replicates as (
    select
        *,
        100 * (advisory_correct - strict_correct) / paired_scores.replays as delta,
        100 * (advisory_covered - strict_covered) / paired_scores.replays as delta_coverage,
    from paired_scores
    inner join selectors on paired_scores.selector_id = selectors.selector_id
    inner join paired_costs
        on paired_scores.archive_id = paired_costs.archive_id
        and paired_scores.budget = paired_costs.budget
        and paired_scores.replicate = paired_costs.replicate
    where selectors.is_primary
),
intervals as (
    select
        archive_id,
        budget,
        quantile_cont(delta, 0.025) as delta_low,
        quantile_cont(delta, 0.975) as delta_high,
    from replicates
    where replicate > 0
    group by archive_id, budget
)
select
    archives.archive,
    replicates.budget,
    100 * replicates.strict_correct / replicates.replays as strict_accuracy,
    100 * replicates.advisory_correct / replicates.replays as advisory_accuracy,
    replicates.delta,
    intervals.delta_low,
    intervals.delta_high,
    100 * replicates.strict_covered / replicates.replays as strict_coverage,
    100 * replicates.advisory_covered / replicates.replays as advisory_coverage,
    replicates.delta_coverage,
    replicates.delta_coverage - replicates.delta as gap_change,
    replicates.strict_cost / replicates.replays as strict_cost,
    replicates.advisory_cost / replicates.replays as advisory_cost,
    replicates.strict_cost / (replicates.replays * replicates.budget) as strict_cost_ratio,
    replicates.advisory_cost / (replicates.replays * replicates.budget) as advisory_cost_ratio,
from replicates
inner join archives on replicates.archive_id = archives.archive_id
left join intervals
    on replicates.archive_id = intervals.archive_id
    and replicates.budget = intervals.budget
where replicates.replicate = 0
order by archives.archive, replicates.budget
