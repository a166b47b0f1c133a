-- first: the earliest attempt that may be picked.
-- grain: walk_id, position
select
    walk_id,
    position,
    -position as standing,
    candidate_id,
from walked_attempts
where is_eligible
