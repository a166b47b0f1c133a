-- candidate_grades: the labels of an attempt under narrow keys; read only by what comes after selection.
-- grain: bank_id, slot
-- kept: table
select
    candidates.bank_id,
    candidates.slot,
    grades.correct as is_correct,
    grades.repaired_correct as is_repaired_correct,
from candidates
inner join banks using (bank_id)
inner join archives using (archive_id)
inner join problems using (problem_id)
inner join grades using (archive, competition, question_id, seed)
