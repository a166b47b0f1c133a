-- budgeted_steps: every step within a cap, beside every budget; what a stopping rule reads.
-- grain: bank_id, repeat, cap, budget, position
select
    steps.bank_id,
    steps.repeat,
    caps.cap,
    budgets.budget,
    steps.position,
    steps.cost,
    steps.cumulative_cost,
from steps
inner join caps on steps.position <= caps.cap
cross join budgets
