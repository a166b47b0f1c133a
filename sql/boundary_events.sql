-- boundary_events: replays of random orders at the primary cap whose budget ends inside an attempt: that attempt, and the tokens left for it.
-- grain: bank_id, repeat, budget
select
    steps.bank_id,
    steps.repeat,
    budgets.budget,
    steps.slot,
    budgets.budget - (steps.cumulative_cost - steps.cost) as remaining,
from steps
inner join caps on steps.position <= caps.cap
inner join budgets
    on budgets.budget > steps.cumulative_cost - steps.cost
    and budgets.budget < steps.cumulative_cost
where caps.is_primary and steps.repeat > 0
