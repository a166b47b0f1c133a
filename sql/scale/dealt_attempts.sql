-- dealt_attempts: an extracted attempt of the problems being worked on, with its key and label in the run.
-- grain: file, place
select extracted.* replace (
    dealt.archive as archive,
    dealt.question_id as question_id,
    dealt.seed as seed,
    dealt.correct as correct
),
from extracted
inner join dealt
    on extracted.file = dealt.file
    and extracted.place = dealt.place
    -- Readers skip groups of rows by these.
    and extracted.competition = dealt.competition
    and extracted.question_id = dealt.read_id
