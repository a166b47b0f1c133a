-- step_lost: the running step finishes and is paid as under step, but what crosses the budget is
--     thrown away: attempts are returned as under strict.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    position as launched,
    case when cumulative_cost <= budget then position else position - 1 end as returned,
    cumulative_cost - cost + coalesce(step_end, cost) as cost,
from last_launched
left join reached_steps using (walk_id, cap, budget)
