-- frontier: every archive, policy, rule and budget as a point of cost and accuracy at the problems
--     that all archives have: whether no other point is better, and in what percent of replicates
--     none is.
-- grain: archive, policy, rule, budget
select
    archive,
    policy,
    rule,
    budget,
    draws::bigint as problems,
    cost / replays as cost,
    100 * correct / replays as accuracy,
    is_best as on_frontier,
    is_best_share as frontier_share,
from interval_frontier
order by archive, policy, rule, budget
