-- early_stopping: stops after a window of five attempts that all give the same answer (Li et al.
--     2024, ESC); the answer stays the selector's.
-- grain: walk_id, cap
select
    tallies.walk_id,
    caps.cap,
    min(tallies.position) as stop_position,
from tallies
inner join caps on tallies.position <= caps.cap
where tallies.position % 5 = 0 and tallies.run_length >= 5
group by tallies.walk_id, caps.cap
