-- step: the budget is checked between steps; the running step finishes and is paid, and the attempt
--     is returned if that step was its last.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    position as launched,
    case when coalesce(step_end, cost) = cost then position else position - 1 end as returned,
    cumulative_cost - cost + coalesce(step_end, cost) as cost,
from last_launched
left join reached_steps using (walk_id, cap, budget)
