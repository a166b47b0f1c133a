-- unwritten: an attempt with a text and no checkpoint that is written in it.
-- grain: archive, competition, question_id, seed
select
    attempts.archive,
    attempts.competition,
    attempts.question_id,
    attempts.seed,
    attempts.completion_tokens as recorded,
from attempts
semi join (select * from texts where text is not null) using (archive, competition, question_id, seed)
anti join (select * from checkpoints where kind = 'written') using (archive, competition, question_id, seed)
