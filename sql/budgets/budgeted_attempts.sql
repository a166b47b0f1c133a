-- budgeted_attempts: every walked attempt within a cap, beside every budget; after the last one no attempt is left to launch.
-- grain: walk_id, cap, budget, position
select
    walked_attempts.walk_id,
    caps.cap,
    budgets.budget,
    walked_attempts.position,
    walked_attempts.cost,
    walked_attempts.cumulative_cost,
    walked_attempts.is_end or walked_attempts.position = caps.cap as is_last,
from walked_attempts
inner join caps on walked_attempts.position <= caps.cap
cross join budgets
