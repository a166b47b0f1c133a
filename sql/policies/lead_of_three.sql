-- lead_of_three: stops once the leader is three votes ahead (what the SPRT of ConSol comes to with
--     its published constants).
-- grain: walk_id, cap
select
    tallies.walk_id,
    caps.cap,
    min(tallies.position) as stop_position,
from tallies
inner join caps on tallies.position <= caps.cap
where tallies.leader_votes - tallies.runner_up_votes >= 3
group by tallies.walk_id, caps.cap
