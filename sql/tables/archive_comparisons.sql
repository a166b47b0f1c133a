-- archive_comparisons: two archives at the problems that both have, under the same rule and budget: accuracy and cost, with paired intervals.
-- grain: archive, other, rule, budget
select
    archive,
    other,
    rule,
    budget,
    draws::bigint as problems,
    100 * correct / replays as accuracy,
    100 * other_correct / replays as other_accuracy,
    delta,
    delta_low,
    delta_high,
    cost / replays as cost,
    other_cost / replays as other_cost,
    cost_difference,
    cost_difference_low,
    cost_difference_high,
from interval_comparisons
order by archive, other, rule, budget
