-- raw_answers: an attempt's answer as written, before normalization; no row where nothing is left of it.
-- grain: archive, competition, question_id, seed
select
    archive,
    competition,
    question_id,
    seed,
    raw_answer
from incoming
where answer is not null
order by archive, competition, question_id, seed
