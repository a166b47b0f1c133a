-- cost_comparisons: every advisory budget against every strict budget: accuracy and realized cost,
--     with paired intervals.
-- grain: archive, advisory_budget, strict_budget
select
    archive,
    advisory_budget,
    strict_budget,
    advisory_cost / replays as advisory_cost,
    strict_cost / replays as strict_cost,
    cost_difference,
    cost_difference_low,
    cost_difference_high,
    cost_ratio,
    cost_ratio_low,
    cost_ratio_high,
    advisory_total / replays as advisory_total,
    strict_total / replays as strict_total,
    total_difference,
    total_difference_low,
    total_difference_high,
    100 * advisory_correct / replays as advisory_accuracy,
    100 * strict_correct / replays as strict_accuracy,
    delta,
    delta_low,
    delta_high,
from interval_budget_pairs
order by archive, advisory_budget, strict_budget
