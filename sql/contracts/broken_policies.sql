-- broken_policies: what is wrong with the rows of a policy; a policy that keeps its contract has no row.
-- grain: policy
with seen as (
    select
        policy_positions.policy_id,
        policy_positions.walk_id,
        policy_positions.cap,
        count(*) as stops,
        count(*) filter (
            walks.walk_id is null
            or caps.cap is null
            or policy_positions.stop_position not between 1 and least(policy_positions.cap, banks.bank_size)
        ) as impossible,
    from policy_positions
    left join walks on policy_positions.walk_id = walks.walk_id
    left join banks on walks.bank_id = banks.bank_id
    left join caps on policy_positions.cap = caps.cap
    group by policy_positions.policy_id, policy_positions.walk_id, policy_positions.cap
)
select
    used_policies.policy,
    case
        when max(seen.stops) > 1 then 'needs at most one row per walk_id and cap'
        when max(seen.impossible) > 0
        then 'needs a walk_id of tallies, a cap of caps, and a stop_position that is null or between 1 and cap and bank_size'
    end as broken,
from seen
inner join used_policies on seen.policy_id = used_policies.policy_id
group by used_policies.policy
having broken is not null
order by used_policies.policy
