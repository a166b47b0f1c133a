-- labels: the archived label of an attempt, as recorded.
-- grain: archive, competition, question_id, seed
select
    archive,
    competition,
    question_id,
    seed,
    correct
from incoming
order by archive, competition, question_id, seed
