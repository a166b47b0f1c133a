-- whole_picks: picks of whole walks.
-- grain: selector_id, walk_id, from_position
from whole_primary_picks
union all
from whole_other_picks
