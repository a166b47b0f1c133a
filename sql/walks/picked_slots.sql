-- picked_slots: picks by the slot of the attempt, which stays where candidates are numbered anew.
-- grain: selector_id, walk_id, from_position
select
    picks.selector_id,
    picks.walk_id,
    picks.from_position,
    candidates.slot,
from picks
inner join candidates on picks.candidate_id = candidates.candidate_id
