-- strict: generation ends at the budget; the attempt that crosses it is charged up to the budget
--     and returns nothing.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    position as launched,
    case when cumulative_cost <= budget then position else position - 1 end as returned,
    least(cumulative_cost, budget) as cost,
from last_launched
