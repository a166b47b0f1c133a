-- policy_caps: how far a walk may go at the primary cap under a policy, which acts as a cap of its own.
-- grain: policy_id, walk_id
select
    used_policies.policy_id,
    walks.walk_id,
    policy_positions.stop_position,
    coalesce(policy_positions.stop_position, caps.cap) as cap,
from walks
cross join used_policies
inner join caps on caps.is_primary
left join policy_positions
    on used_policies.policy_id = policy_positions.policy_id
    and walks.walk_id = policy_positions.walk_id
    and caps.cap = policy_positions.cap
