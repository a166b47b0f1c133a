-- interval_policies: what a policy gains and saves, with the ends of their intervals.
-- grain: archive, policy, rule, budget
select
    *,
    100 * gained / replays as delta,
    100 * (whole_cost - cost) / whole_cost as cost_saved,
from replicate_policies
