-- recorded_answers: the box and the answer that the source recorded of an attempt, as written; no
--     row where it recorded neither.
-- grain: archive, competition, question_id, seed
select
    archive,
    competition,
    question_id,
    seed,
    recorded_box as boxed_answer,
    recorded_answer as raw_archive_answer,
from incoming
where recorded_box is not null or recorded_answer is not null
order by archive, competition, question_id, seed
