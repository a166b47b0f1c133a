-- appended_attempts: an attempt of a bank that comes from several files, in the order in which it was read.
-- grain: file, place
select
    archive,
    competition,
    question_id,
    file,
    place,
    seed,
from incoming
semi join (
    select
        archive,
        competition,
        question_id,
    from incoming
    group by archive, competition, question_id
    having count(distinct file) > 1
) using (archive, competition, question_id)
order by archive, competition, question_id, file, place
