-- correct_picks: from where to where in a walk the primary selector picks an attempt labelled correct.
-- grain: walk_id, from_position
select
    primary_picks.walk_id,
    primary_picks.from_position,
    primary_picks.until_position,
from primary_picks
inner join candidate_grades on primary_picks.candidate_id = candidate_grades.candidate_id
where candidate_grades.is_correct
