-- checkpoint_grades: the label of a checkpoint: its own; else true where its answer is an accepted
--     reference of its attempt, or that of an attempt labelled correct with the same references;
--     else false where the problem has a reference or an attempt labelled correct; else null.
-- grain: archive, competition, question_id, seed, tokens, kind
with accepted as (
    select
        archive,
        competition,
        question_id,
        references_id,
        list(distinct reference order by reference) as forms,
    from accepted_references
    group by archive, competition, question_id, references_id
),
references_of as (
    select
        labels.archive,
        labels.competition,
        labels.question_id,
        labels.seed,
        labels.correct,
        coalesce(accepted.forms, []) as forms,
    from labels
    left join accepted using (archive, competition, question_id, references_id)
),
recorded as (
    from references_of
    anti join (select archive from sources where format = 'derived') using (archive)
),
right_answers as (
    select distinct
        recorded.competition,
        recorded.question_id,
        recorded.forms,
        attempts.answer,
    from recorded
    inner join attempts using (archive, competition, question_id, seed)
    where recorded.correct
),
decided as (
    select distinct
        competition,
        question_id,
    from recorded
    where correct or len(forms) > 0
)
select
    checkpoints.archive,
    checkpoints.competition,
    checkpoints.question_id,
    checkpoints.seed,
    checkpoints.tokens,
    checkpoints.kind,
    coalesce(
        checkpoint_labels.correct,
        case when list_contains(references_of.forms, checkpoints.answer) or right_answers.answer is not null then true end,
        case when decided.competition is not null then false end
    ) as correct,
from checkpoints
left join checkpoint_labels using (archive, competition, question_id, seed, tokens, kind)
left join references_of using (archive, competition, question_id, seed)
left join right_answers
    on checkpoints.competition = right_answers.competition
    and checkpoints.question_id = right_answers.question_id
    and checkpoints.answer = right_answers.answer
    and references_of.forms = right_answers.forms
left join decided
    on checkpoints.competition = decided.competition
    and checkpoints.question_id = decided.question_id
