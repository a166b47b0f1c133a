-- live_picks: what the selector picks after each of the attempts.
-- grain: one row
select list(selected_prefix_id order by prefix_id) as selected_prefix_ids
from prefix_selections
