-- interval_comparisons: two archives at the problems that both have: the difference in accuracy and cost, with the ends of their intervals.
-- grain: archive, other, rule, budget
select
    *,
    100 * (correct - other_correct) / replays as delta,
    (cost - other_cost) / replays as cost_difference,
from replicate_comparisons
