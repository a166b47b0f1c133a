-- stored_records: all that an answer can be read from: an attempt's text, and the extractions that
--     its source recorded.
-- grain: archive, competition, question_id, seed
select
    texts.archive,
    texts.competition,
    texts.question_id,
    texts.seed,
    texts.text,
    recorded_answers.boxed_answer,
    recorded_answers.raw_archive_answer,
from texts
left join recorded_answers
    on texts.archive = recorded_answers.archive
    and texts.competition = recorded_answers.competition
    and texts.question_id = recorded_answers.question_id
    and texts.seed = recorded_answers.seed
