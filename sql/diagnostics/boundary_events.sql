-- boundary_events: replays of random orders at the primary cap whose budget ends inside an attempt: that attempt, and the tokens left for it.
-- grain: walk_id, budget
select
    last_launched.walk_id,
    walks.bank_id,
    walks.repeat,
    last_launched.budget,
    walked_attempts.slot,
    last_launched.budget - (last_launched.cumulative_cost - last_launched.cost) as remaining,
from last_launched
inner join caps on last_launched.cap = caps.cap
inner join walks on last_launched.walk_id = walks.walk_id
inner join walked_attempts on last_launched.walk_id + last_launched.position = walked_attempts.prefix_id
where caps.is_primary and walks.repeat > 0 and last_launched.cumulative_cost > last_launched.budget
