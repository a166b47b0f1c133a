-- live_picks: what the selector picks, by the attempt from which it does.
-- grain: one row
select list({'position': from_position, 'candidate': candidate_id} order by from_position) as picks
from primary_picks
