-- left_attempts: an attempt of an archive from which another is derived: whether it leaves early, and
--     what it then costs, answers and is labelled. Asking is paid for up to where it leaves.
-- grain: archive, competition, question_id, seed
with asked as (
    select
        exit_attempts.archive,
        exit_attempts.competition,
        exit_attempts.question_id,
        exit_attempts.seed,
        any_value(exits.step) is not null as leaves,
        any_value(exit_checkpoints.tokens) filter (exit_checkpoints.step = exits.step) as tokens,
        sum(exit_checkpoints.cost)::bigint as asking,
    from exit_attempts
    left join exits using (attempt_id)
    inner join exit_checkpoints
        on exit_attempts.attempt_id = exit_checkpoints.attempt_id
        and exit_checkpoints.step <= coalesce(exits.step, exit_checkpoints.step)
    group by exit_attempts.archive, exit_attempts.competition, exit_attempts.question_id, exit_attempts.seed
),
answered as (
    select
        checkpoints.*,
        checkpoint_grades.correct,
    from checkpoints
    inner join checkpoint_grades using (archive, competition, question_id, seed, tokens, kind)
    where kind = 'asked'
)
select
    derived_archives.derived,
    attempts.archive,
    attempts.competition,
    attempts.question_id,
    attempts.seed,
    asked.seed is not null as is_asked,
    coalesce(asked.leaves, false) as leaves,
    coalesce(asked.asking, 0) + if(leaves, asked.tokens, attempts.completion_tokens) as completion_tokens,
    if(leaves, 'stop', attempts.finish_reason) as finish_reason,
    if(leaves, answered.answer, attempts.answer) as answer,
    if(leaves, answered.answer, attempts.archive_answer) as archive_answer,
    if(leaves, answered.answer, raw_answers.raw_answer) as raw_answer,
    if(leaves, answered.answer is not null, attempts.eligible) as eligible,
    if(leaves and labels.correct is not null, coalesce(answered.correct, false), labels.correct) as correct,
    labels.references_id,
from attempts
inner join derived_archives using (archive)
inner join labels using (archive, competition, question_id, seed)
left join raw_answers using (archive, competition, question_id, seed)
left join asked using (archive, competition, question_id, seed)
left join answered
    on attempts.archive = answered.archive
    and attempts.competition = answered.competition
    and attempts.question_id = answered.question_id
    and attempts.seed = answered.seed
    and asked.tokens = answered.tokens
