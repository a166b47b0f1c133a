-- grades: the archived label of an attempt, and the label repaired: true where a reference that any archive accepts equals the box.
-- grain: archive, competition, question_id, seed
with accepted as (
    select distinct
        competition,
        question_id,
        reference
    from accepted_references
)
select
    labels.archive,
    labels.competition,
    labels.question_id,
    labels.seed,
    labels.correct,
    labels.correct or accepted.reference is not null as repaired_correct
from labels
inner join attempts
    on labels.archive = attempts.archive
    and labels.competition = attempts.competition
    and labels.question_id = attempts.question_id
    and labels.seed = attempts.seed
left join accepted
    on attempts.competition = accepted.competition
    and attempts.question_id = accepted.question_id
    and attempts.answer = accepted.reference
