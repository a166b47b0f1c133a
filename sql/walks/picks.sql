-- picks: what a selector holds from one position of a walk until another.
-- grain: selector_id, walk_id, from_position
from primary_picks
union all
from other_picks
