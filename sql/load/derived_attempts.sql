-- derived_attempts: an attempt of an archive that leaves early where another one does not; text,
--     scores, steps, money and seconds of what it would have generated are not known.
-- grain: archive, competition, question_id, seed
select attempts.* replace (
    derived as archive,
    left_attempts.completion_tokens as completion_tokens,
    left_attempts.finish_reason as finish_reason,
    left_attempts.answer as answer,
    left_attempts.archive_answer as archive_answer,
    left_attempts.eligible as eligible,
    null as mean_logprob,
    null as money,
    null as seconds,
    null as reasoning_tokens,
    null as reasoning_length,
    null as total_tokens
),
from attempts
inner join left_attempts using (archive, competition, question_id, seed)
order by all
