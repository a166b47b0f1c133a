-- last_launched: the last attempt launched: it begins before the budget is spent, and uses it up or is the last there is.
-- grain: walk_id, cap, budget
select
    capped_attempts.walk_id,
    capped_attempts.cap,
    budgets.budget,
    capped_attempts.position,
    capped_attempts.cost,
    capped_attempts.cumulative_cost,
from capped_attempts
-- An attempt is the last one launched by an interval of budgets, which a join finds without trying every pair.
inner join budgets
    on capped_attempts.cumulative_cost - capped_attempts.cost < budgets.budget
    and case when capped_attempts.is_last then 9223372036854775807 else capped_attempts.cumulative_cost end >= budgets.budget
