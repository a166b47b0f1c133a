-- control_steps: the primary cap's steps of both controls: the budget moved to a completion boundary, and every cost made equal.
-- grain: control, bank_id, repeat, cap, budget, nominal_budget, position
select
    'completed_prefix' as control,
    steps.bank_id,
    steps.repeat,
    stops.cap,
    stops.completion_cost as budget,
    stops.budget as nominal_budget,
    steps.position,
    steps.cost,
    steps.cumulative_cost,
from stops
inner join rules on stops.rule_id = rules.rule_id
inner join caps on stops.cap = caps.cap
inner join steps
    on stops.bank_id = steps.bank_id
    and stops.repeat = steps.repeat
    and stops.cap >= steps.position
where rules.rule = 'advisory' and caps.is_primary
union all
select
    'aligned_cost' as control,
    steps.bank_id,
    steps.repeat,
    caps.cap,
    budgets.budget,
    budgets.budget as nominal_budget,
    steps.position,
    case when steps.position > 0 then aligned.unit else 0 end as cost,
    steps.position * aligned.unit as cumulative_cost,
from steps
inner join caps on caps.cap >= steps.position
cross join budgets
cross join (select list_reduce(list(budget), lambda a, b: gcd(a, b)) as unit from budgets) as aligned
where caps.is_primary
