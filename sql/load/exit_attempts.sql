-- exit_attempts: an attempt with asked checkpoints, of an archive that is derived from others now.
-- grain: attempt_id
select
    row_number() over (order by archive, competition, question_id, seed) as attempt_id,
    archive,
    competition,
    question_id,
    seed,
from (
    select distinct
        archive,
        competition,
        question_id,
        seed,
    from checkpoints
    semi join derived_archives using (archive)
    where kind = 'asked'
)
