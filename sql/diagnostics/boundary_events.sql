-- boundary_events: replays of random orders at the primary cap whose budget ends inside an attempt:
--     that attempt, and what is left for it.
-- grain: walk_id, budget
select
    stops.walk_id,
    stops.bank_id,
    stops.repeat,
    stops.budget,
    walked_attempts.slot,
    stops.budget - (walked_attempts.cumulative_cost - walked_attempts.cost) as remaining,
from primary_stops as stops
inner join walked_attempts
    on stops.walk_id = walked_attempts.walk_id
    and stops.launched = walked_attempts.position
where stops.rule = 'strict' and stops.repeat > 0 and walked_attempts.cumulative_cost > stops.budget
