-- archive_comparisons: two archives at the problems that both have, under the same rule and budget: accuracy and cost, with paired intervals.
-- grain: archive, other, rule, budget
with pairs as (
    select
        *,
        100 * (correct - other_correct) / replays as delta,
        (cost - other_cost) / replays as cost_difference,
    from replicate_comparisons
)
select
    archive,
    other,
    rule,
    budget,
    (any_value(draws) filter (replicate = 0))::bigint as problems,
    any_value(100 * correct / replays) filter (replicate = 0) as accuracy,
    any_value(100 * other_correct / replays) filter (replicate = 0) as other_accuracy,
    any_value(delta) filter (replicate = 0) as delta,
    quantile_cont(delta, 0.025) filter (replicate > 0) as delta_low,
    quantile_cont(delta, 0.975) filter (replicate > 0) as delta_high,
    any_value(cost / replays) filter (replicate = 0) as cost,
    any_value(other_cost / replays) filter (replicate = 0) as other_cost,
    any_value(cost_difference) filter (replicate = 0) as cost_difference,
    quantile_cont(cost_difference, 0.025) filter (replicate > 0) as cost_difference_low,
    quantile_cont(cost_difference, 0.975) filter (replicate > 0) as cost_difference_high,
from pairs
group by archive, other, rule, budget
order by archive, other, rule, budget
