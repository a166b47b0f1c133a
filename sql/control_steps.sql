-- control_steps: the primary cap's steps of both controls: the budget moved to a completion boundary, and every cost made equal.
-- grain: control, walk_id, cap, budget, nominal_budget, position
select
    'completed_prefix' as control,
    steps.walk_id,
    stops.cap,
    stops.completion_cost as budget,
    stops.budget as nominal_budget,
    steps.position,
    steps.cost,
    steps.cumulative_cost,
    steps.is_end or steps.position = stops.cap as is_last,
from stops
inner join rules on stops.rule_id = rules.rule_id
inner join caps on stops.cap = caps.cap
inner join steps
    on stops.walk_id = steps.walk_id
    and stops.cap >= steps.position
where rules.rule = 'advisory' and caps.is_primary
union all
select
    'aligned_cost' as control,
    steps.walk_id,
    caps.cap,
    budgets.budget,
    budgets.budget as nominal_budget,
    steps.position,
    case when steps.position > 0 then reach.unit else 0 end as cost,
    steps.position * reach.unit as cumulative_cost,
    steps.is_end or steps.position = caps.cap as is_last,
from steps
inner join caps on steps.position <= caps.cap
cross join budgets
cross join reach
where caps.is_primary
