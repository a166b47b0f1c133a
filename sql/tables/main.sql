-- main: the paired boundary audit: accuracy, coverage and realized cost of both rules at the same budget.
-- grain: archive, budget
with points as (
    select
        archive,
        budget,
        sum(replays) as replays,
        sum(strict_correct) as strict_correct,
        sum(advisory_correct) as advisory_correct,
        sum(strict_covered) as strict_covered,
        sum(advisory_covered) as advisory_covered,
        sum(strict_cost) as strict_cost,
        sum(advisory_cost) as advisory_cost,
        100 * (sum(advisory_correct) - sum(strict_correct)) / sum(replays) as delta,
        100 * (sum(advisory_covered) - sum(strict_covered)) / sum(replays) as delta_coverage,
    from paired_totals
    group by archive, budget
)
select
    points.archive,
    points.budget,
    100 * points.strict_correct / points.replays as strict_accuracy,
    100 * points.advisory_correct / points.replays as advisory_accuracy,
    points.delta,
    interval_gains.delta_low,
    interval_gains.delta_high,
    100 * points.strict_covered / points.replays as strict_coverage,
    100 * points.advisory_covered / points.replays as advisory_coverage,
    points.delta_coverage,
    points.delta_coverage - points.delta as gap_change,
    points.strict_cost / points.replays as strict_cost,
    points.advisory_cost / points.replays as advisory_cost,
    points.strict_cost / (points.replays * points.budget) as strict_cost_ratio,
    points.advisory_cost / (points.replays * points.budget) as advisory_cost_ratio,
from points
left join interval_gains using (archive, budget)
order by points.archive, points.budget
