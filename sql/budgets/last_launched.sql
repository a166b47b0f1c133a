-- last_launched: the last attempt launched: it begins before the budget is spent, and uses it up or
--     is the last there is.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    position,
    bank_id,
    slot,
    cost,
    cumulative_cost,
from budgeted_attempts
where
    cumulative_cost - cost < budget
    -- Written as two range conditions, not as `or`: DuckDB then uses a range join instead of a nested loop.
    and case when is_last then 9223372036854775807 else cumulative_cost end >= budget
