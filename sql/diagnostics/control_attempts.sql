-- control_attempts: the primary cap's attempts of both controls: the budget moved to a completion boundary, and every cost made equal; replays says how many budgets of the run became this one.
-- grain: control, walk_id, cap, budget, position
select
    'completed_prefix' as control,
    walked_attempts.walk_id,
    moved.cap,
    moved.budget,
    walked_attempts.position,
    walked_attempts.cost,
    walked_attempts.cumulative_cost,
    walked_attempts.is_end or walked_attempts.position = moved.cap as is_last,
    moved.replays,
from (
    select
        walk_id,
        cap,
        completion_cost as budget,
        count(*) as replays,
    from primary_stops
    where rule = 'advisory'
    group by walk_id, cap, completion_cost
) as moved
inner join walked_attempts
    on moved.walk_id = walked_attempts.walk_id
    and moved.cap >= walked_attempts.position
union all
select
    'aligned_cost' as control,
    walked_attempts.walk_id,
    caps.cap,
    budgets.budget,
    walked_attempts.position,
    case when walked_attempts.position > 0 then equal_cost.unit else 0 end as cost,
    walked_attempts.position * equal_cost.unit as cumulative_cost,
    walked_attempts.is_end or walked_attempts.position = caps.cap as is_last,
    1 as replays,
from walked_attempts
inner join caps on walked_attempts.position <= caps.cap
cross join budgets
cross join (
    select list_reduce(list(budget), lambda a, b: gcd(a, b)) as unit from budgets
) as equal_cost
where caps.is_primary
