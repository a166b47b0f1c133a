-- unreplayed: the problems of each archive that the filters of the last replay left out.
-- grain: archive, competition, question_id
select distinct
    archive,
    competition,
    question_id,
from attempts
anti join replayed_problems using (archive, competition, question_id)
