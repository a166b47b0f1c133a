-- label_references: the label of an attempt, and the accepted reference that its answer equals, null
--     where it equals none.
-- grain: archive, competition, question_id, seed
select
    labels.archive,
    labels.competition,
    labels.question_id,
    labels.seed,
    labels.correct,
    accepted_references.reference,
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
