-- grades: the label of an attempt, null in an unlabelled archive, and the label repaired: true too
--     where its answer equals a reference that it accepts.
-- grain: archive, competition, question_id, seed
select
    labels.archive,
    labels.competition,
    labels.question_id,
    labels.seed,
    labels.correct,
    labels.correct or (accepted_references.reference is not null and labels.correct is not null) as repaired_correct,
from labels
inner join attempts
    on labels.archive = attempts.archive
    and labels.competition = attempts.competition
    and labels.question_id = attempts.question_id
    and labels.seed = attempts.seed
left join accepted_references
    on labels.archive = accepted_references.archive
    and labels.competition = accepted_references.competition
    and labels.question_id = accepted_references.question_id
    and labels.references_id = accepted_references.references_id
    and attempts.answer = accepted_references.reference
