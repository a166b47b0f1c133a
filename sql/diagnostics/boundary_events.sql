-- boundary_events: replays of random orders at the primary cap whose budget ends inside an attempt:
--     that attempt, and what is left for it.
-- grain: walk_id, budget
select
    stops.walk_id,
    walks.bank_id,
    walks.repeat,
    stops.budget,
    walked_attempts.slot,
    stops.budget - (walked_attempts.cumulative_cost - walked_attempts.cost) as remaining,
from primary_stops as stops
inner join walks on stops.walk_id = walks.walk_id
inner join walked_attempts on stops.launched_prefix_id = walked_attempts.prefix_id
where stops.rule = 'strict' and walks.repeat > 0 and walked_attempts.cumulative_cost > stops.budget
