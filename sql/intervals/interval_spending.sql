-- interval_spending: what a budget loses and saves against none, and what a correct answer costs,
--     with the ends of their intervals.
-- grain: archive, budget, rule
-- totals: spending_totals
-- values: correct, cost, missed, whole_cost
-- intervals: lost low high; saved low high; cost_per_correct low high
select
    *,
    100 * missed / replays as lost,
    100 * (whole_cost - cost) / whole_cost as saved,
    -- Where nothing is correct there is no such cost.
    cost / nullif(correct, 0) as cost_per_correct,
from replicate_spending
