-- interval_policies: what a policy gains and saves, with the ends of their intervals.
-- grain: archive, policy, rule, budget
-- totals: problem_policies
-- values: gained, cost, whole_cost
-- intervals: delta low high; cost_saved low high
select
    *,
    100 * gained / replays as delta,
    100 * (whole_cost - cost) / whole_cost as cost_saved,
from replicate_policies
