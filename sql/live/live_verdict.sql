-- live_verdict: how many attempts the rule returns, and which of them the selector picks.
-- grain: one row
select
    stops.returned,
    picks.candidate_id + 1 as selected,
from stops
left join primary_picks as picks
    on stops.returned >= picks.from_position
    and stops.returned < picks.until_position
