-- strict: generation ends at the budget; the attempt that crosses it is charged up to the budget and returns nothing.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    position as launched,
    if(cumulative_cost <= budget, position, position - 1) as returned,
    least(cumulative_cost, budget) as completion_cost,
from crossings
