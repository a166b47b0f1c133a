-- admitted_grades: the labels of checkpoints under narrow keys; null where nothing decides them.
-- grain: candidate_id, tokens, kind
-- kept: on demand
select
    candidates.candidate_id,
    checkpoint_grades.tokens,
    checkpoint_grades.kind,
    checkpoint_grades.correct as is_correct,
from checkpoint_grades
inner join archives using (archive)
inner join problems using (competition, question_id)
inner join banks using (archive_id, problem_id)
inner join candidates using (bank_id, seed)
