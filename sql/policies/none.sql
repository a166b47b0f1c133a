-- none: never stops by itself: the budget, the cap or the bank ends it.
-- grain: walk_id, cap
select
    tallies.walk_id,
    caps.cap,
    null::integer as stop_position,
from tallies
cross join caps
where false
