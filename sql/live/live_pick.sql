-- live_pick: which attempt the selector picks from the first ones.
-- grain: one row
select max(candidate_id) + 1 as position
from primary_picks
where $returned >= from_position and $returned < until_position
