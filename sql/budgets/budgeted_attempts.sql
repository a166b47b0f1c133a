-- budgeted_attempts: every walked attempt within a cap, beside every budget; after the last one no attempt is left to launch.
-- grain: walk_id, cap, budget, position
select
    capped_attempts.walk_id,
    capped_attempts.cap,
    budgets.budget,
    capped_attempts.position,
    capped_attempts.cost,
    capped_attempts.cumulative_cost,
    capped_attempts.is_last,
from capped_attempts
cross join budgets
