-- policy_caps: how far a walk may go at the primary cap under a policy, which acts as a cap of its own.
-- grain: policy_id, walk_id
select
    used_policies.policy_id,
    bank_orders.walk_id,
    halts.stop_position,
    coalesce(halts.stop_position, caps.cap) as cap,
from bank_orders
cross join used_policies
inner join caps on caps.is_primary
left join halts
    on used_policies.policy_id = halts.policy_id
    and bank_orders.walk_id = halts.walk_id
    and caps.cap = halts.cap
