-- boundary_events: replays of random orders at the primary cap whose budget ends inside an attempt: that attempt, and the tokens left for it.
-- grain: walk_id, budget
select
    crossings.walk_id,
    walks.bank_id,
    walks.repeat,
    crossings.budget,
    steps.slot,
    crossings.budget - (crossings.cumulative_cost - crossings.cost) as remaining,
from crossings
inner join caps on crossings.cap = caps.cap
inner join walks on crossings.walk_id = walks.walk_id
inner join steps on crossings.walk_id + crossings.position = steps.walk_id + steps.position
where caps.is_primary and walks.repeat > 0 and crossings.cumulative_cost > crossings.budget
