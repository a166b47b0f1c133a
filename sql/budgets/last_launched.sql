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
where cumulative_cost - cost < budget and (cumulative_cost >= budget or is_last)
