-- candidate_grades: the labels of an attempt under narrow keys; read only by what comes after
--     selection. is_covering tells whether the primary selector may pick it, and it is correct.
-- grain: candidate_id
-- kept: table
select
    candidates.candidate_id,
    candidates.bank_id,
    candidates.slot,
    grades.correct as is_correct,
    grades.repaired_correct as is_repaired_correct,
    coalesce(grades.correct, false) and eligible_attempts.candidate_id is not null as is_covering,
from candidates
inner join banks using (bank_id)
inner join archives using (archive_id)
inner join problems using (problem_id)
inner join grades using (archive, competition, question_id, seed)
left join eligible_attempts
    on candidates.candidate_id = eligible_attempts.candidate_id
    and eligible_attempts.is_primary
