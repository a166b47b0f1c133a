-- policy_limits: how far a walk may go at the primary cap: to where a policy stops it.
-- grain: walk_id, policy_id
select
    walks.walk_id,
    caps.cap,
    used_policies.policy_id,
    policy_positions.stop_position,
    coalesce(policy_positions.stop_position, caps.cap) as last_position,
from walks
cross join used_policies
inner join caps on caps.is_primary
left join policy_positions
    on used_policies.policy_id = policy_positions.policy_id
    and walks.walk_id = policy_positions.walk_id
    and caps.cap = policy_positions.cap
