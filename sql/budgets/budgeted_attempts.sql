-- budgeted_attempts: every walked attempt within a limit, here called its cap, beside every budget;
--     after the last one no attempt is left to launch.
-- grain: walk_id, cap, budget, position
select
    walked_attempts.walk_id,
    ends.cap,
    budgets.budget,
    walked_attempts.position,
    walked_attempts.bank_id,
    walked_attempts.slot,
    walked_attempts.cost,
    walked_attempts.cumulative_cost,
    walked_attempts.is_end or walked_attempts.position = ends.cap as is_last,
from walked_attempts
-- Several policies may stop a walk at the same position; the rules look at it once.
inner join (select distinct walk_id, last_position as cap from {{ limits | default('cap_limits') }}) as ends
    on walked_attempts.walk_id = ends.walk_id
    and walked_attempts.position <= ends.cap
cross join budgets
