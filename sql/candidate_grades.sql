-- candidate_grades: the labels of an attempt under narrow keys; read only by what comes after selection.
-- grain: bank_id, slot
select
    candidates.bank_id,
    candidates.slot,
    grades.correct as is_correct,
    grades.repaired_correct as is_repaired_correct,
from candidates
inner join banks on candidates.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
inner join grades
    on archives.archive = grades.archive
    and problems.competition = grades.competition
    and problems.question_id = grades.question_id
    and candidates.seed = grades.seed
