-- live_stop: after which attempt the policy stops; null where it has not stopped yet.
-- grain: one row
select min(stop_position) as stop_position
from policy_positions
