-- curves: accuracy, coverage and realized cost of every rule over the budgets, each with its own interval.
-- grain: archive, budget, rule
with replicates as (
    select
        archive,
        budget,
        rule,
        replicate,
        100 * correct / replays as accuracy,
        100 * covered / replays as coverage,
        cost / replays as cost,
    from replicate_points
)
select
    archive,
    budget,
    rule,
    any_value(accuracy) filter (replicate = 0) as accuracy,
    quantile_cont(accuracy, 0.025) filter (replicate > 0) as accuracy_low,
    quantile_cont(accuracy, 0.975) filter (replicate > 0) as accuracy_high,
    any_value(coverage) filter (replicate = 0) as coverage,
    quantile_cont(coverage, 0.025) filter (replicate > 0) as coverage_low,
    quantile_cont(coverage, 0.975) filter (replicate > 0) as coverage_high,
    any_value(cost) filter (replicate = 0) as cost,
    any_value(cost) filter (replicate = 0) / budget as cost_ratio,
    quantile_cont(cost / budget, 0.025) filter (replicate > 0) as cost_ratio_low,
    quantile_cont(cost / budget, 0.975) filter (replicate > 0) as cost_ratio_high,
from replicates
group by archive, budget, rule
order by archive, budget, rule
