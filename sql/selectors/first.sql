-- first: the earliest attempt that may be picked.
-- grain: walk_id, position
select
    walk_id,
    position,
    is_eligible,
    (min(position) filter (is_eligible) over prefix)::integer as selected_position,
from walked_attempts
window prefix as (partition by walk_id order by position)
