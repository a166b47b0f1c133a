-- attempt_lost: every launched attempt finishes and is paid as under advisory, but one that crosses
--     the budget is thrown away: attempts are returned as under strict.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    position as launched,
    case when cumulative_cost <= budget then position else position - 1 end as returned,
    cumulative_cost as cost,
from last_launched
