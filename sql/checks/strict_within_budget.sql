-- strict_within_budget: the strict rule never pays more than the budget, and pays all of it
--     whenever it cuts an attempt
-- grain: one row
select
    count(*) as looked_at,
    count(*) filter (
        cost > budget
        or prefix_cost < 0
        or (prefix_cost > 0 and cost <> budget)
    ) as violations,
from replays
where rule = 'strict'
