-- last_launched: the last attempt launched: it begins before the budget is spent, and uses it up or is the last there is.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    position,
    cost,
    cumulative_cost,
from budgeted_attempts
where
    cumulative_cost - cost < budget
    -- Two comparisons with the budget, and no choice between two, let the budgets be joined without trying every pair.
    and case when is_last then 9223372036854775807 else cumulative_cost end >= budget
