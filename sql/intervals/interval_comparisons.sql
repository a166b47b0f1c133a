-- interval_comparisons: two archives at the problems that both have: the difference in accuracy and
--     cost, with the ends of their intervals.
-- grain: archive, other, rule, budget
-- totals: problem_comparisons
-- values: more_correct, more_cost
-- intervals: delta low high error; cost_difference low high
select
    *,
    100 * more_correct / replays as delta,
    more_cost / replays as cost_difference,
from replicate_comparisons
