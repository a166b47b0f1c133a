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
    from problem_pairs
    group by archive, budget
),
intervals as (
    select
        archive,
        budget,
        quantile_cont(100 * gained / replays, 0.025) as delta_low,
        quantile_cont(100 * gained / replays, 0.975) as delta_high,
    from replicate_gains
    where replicate > 0
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
