-- advisory: the budget is checked between attempts; every launched attempt finishes, is returned
--     and is paid in full.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    position as launched,
    position as returned,
    cumulative_cost as cost,
from last_launched
