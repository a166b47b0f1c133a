-- budgeted_steps: every step within a cap, beside every budget; after the last one no attempt is left to launch.
-- grain: walk_id, cap, budget, position
select
    steps.walk_id,
    caps.cap,
    budgets.budget,
    steps.position,
    steps.cost,
    steps.cumulative_cost,
    steps.is_end or steps.position = caps.cap as is_last,
from steps
inner join caps on steps.position <= caps.cap
cross join budgets
