-- limits: how far a walk may go: to every cap of the run, and at the primary cap to where a policy
--     stops it; policy_id 0 is no policy.
-- grain: walk_id, cap, policy_id
select
    walks.walk_id,
    caps.cap,
    caps.is_primary,
    0::tinyint as policy_id,
    null::integer as stop_position,
    caps.cap as last_position,
from walks
cross join caps
union all
select
    walks.walk_id,
    caps.cap,
    caps.is_primary,
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
