-- broken_policies: what is wrong with the rows of a policy; a policy that keeps its contract has no row.
-- grain: policy
with seen as (
    select
        halts.policy_id,
        halts.walk_id,
        halts.cap,
        count(*) as stops,
        count(*) filter (
            bank_orders.walk_id is null
            or caps.cap is null
            or halts.stop_position not between 1 and least(halts.cap, banks.bank_size)
        ) as impossible,
    from halts
    left join bank_orders on halts.walk_id = bank_orders.walk_id
    left join banks on bank_orders.bank_id = banks.bank_id
    left join caps on halts.cap = caps.cap
    group by halts.policy_id, halts.walk_id, halts.cap
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
