-- live_verdict: how many attempts the rule returns, and which of them the selector picks.
-- grain: one row
select
    stops.returned,
    prefix_selections.selected_prefix_id,
from stops
left join prefix_selections on stops.returned_prefix_id = prefix_selections.prefix_id
