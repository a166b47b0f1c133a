-- control_attempts: the primary cap's attempts of both controls: the budget moved to a completion
--     boundary, and every cost made equal.
-- grain: control, walk_id, cap, budget, nominal_budget, position
select
    'completed_prefix' as control,
    walked_attempts.walk_id,
    stops.cap,
    stops.cost as budget,
    stops.budget as nominal_budget,
    walked_attempts.position,
    walked_attempts.bank_id,
    walked_attempts.slot,
    walked_attempts.cost,
    walked_attempts.cumulative_cost,
    walked_attempts.is_end or walked_attempts.position = stops.cap as is_last,
from primary_stops as stops
inner join walked_attempts
    on stops.walk_id = walked_attempts.walk_id
    and stops.cap >= walked_attempts.position
where stops.rule = 'advisory'
union all
select
    'aligned_cost' as control,
    walked_attempts.walk_id,
    caps.cap,
    budgets.budget,
    budgets.budget as nominal_budget,
    walked_attempts.position,
    walked_attempts.bank_id,
    walked_attempts.slot,
    equal_cost.unit as cost,
    walked_attempts.position * equal_cost.unit as cumulative_cost,
    walked_attempts.is_end or walked_attempts.position = caps.cap as is_last,
from whole_attempts as walked_attempts
inner join caps on walked_attempts.position <= caps.cap
cross join budgets
cross join (
    select list_reduce(list(budget), lambda a, b: gcd(a, b)) as unit from budgets
) as equal_cost
where caps.is_primary
