-- foreseeing_policies: a walk that a policy stops elsewhere once the attempts after that position
--     are changed or cut off.
-- grain: plugin, walk_id, position
with stopped as (
    select *, true as is_first from said
    union all
    select *, false as is_first from said_again
)
select distinct
    used_policies.policy as plugin,
    stopped.walk_id,
    min(stopped.stop_position) as position,
from stopped
inner join used_policies on stopped.policy_id = used_policies.policy_id
inner join sampled_walks
    on stopped.walk_id = sampled_walks.walk_id
    and stopped.stop_position <= sampled_walks.kept
group by used_policies.policy, stopped.walk_id, stopped.cap
having
    min(stopped.stop_position) filter (stopped.is_first)
    is distinct from min(stopped.stop_position) filter (not stopped.is_first)
order by plugin, stopped.walk_id, position
