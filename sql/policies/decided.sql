-- decided: stops once no later vote can change the leader.
-- grain: walk_id, cap
select
    tallies.walk_id,
    caps.cap,
    min(tallies.position) as stop_position,
from tallies
inner join caps on tallies.position <= caps.cap
where
    tallies.leader_votes
    > tallies.runner_up_votes + least(caps.cap, tallies.bank_size) - tallies.position
group by tallies.walk_id, caps.cap
