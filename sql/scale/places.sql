-- places: the problems of a part that are in a file, and the names and numbers they have there and in
--     the run.
-- grain: part, file, read_archive, competition, read_id
select distinct
    dealt.part,
    bank_counts.file,
    bank_counts.read_archive,
    bank_counts.archive,
    bank_counts.competition,
    bank_counts.read_id,
    bank_counts.question_id,
from bank_counts
inner join dealt using (competition, question_id)
order by dealt.part, bank_counts.file
