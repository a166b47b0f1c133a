-- keyed_checkpoints: what selection may know of a checkpoint, under narrow keys; an answer that no
--     attempt of the bank has gets the number after the last one; null where nothing was answered.
-- grain: candidate_id, tokens, kind
-- kept: on demand
with bank_answers as (
    select distinct
        bank_id,
        answer,
        answer_id,
    from candidates
    where answer is not null
),
bank_archive_answers as (
    select distinct
        bank_id,
        archive_answer,
        archive_answer_id,
    from candidates
    where archive_answer is not null
)
select
    candidates.candidate_id,
    checkpoints.tokens,
    checkpoints.kind,
    checkpoints.cost,
    checkpoints.answer,
    case when checkpoints.answer is not null then coalesce(bank_answers.answer_id, banks.bank_size + 1) end as answer_id,
    case when checkpoints.answer is not null then coalesce(bank_archive_answers.archive_answer_id, banks.bank_size + 1) end as archive_answer_id,
from checkpoints
inner join archives on checkpoints.archive = archives.archive
inner join problems
    on checkpoints.competition = problems.competition
    and checkpoints.question_id = problems.question_id
inner join banks
    on archives.archive_id = banks.archive_id
    and problems.problem_id = banks.problem_id
inner join candidates
    on banks.bank_id = candidates.bank_id
    and checkpoints.seed = candidates.seed
left join bank_answers
    on banks.bank_id = bank_answers.bank_id
    and checkpoints.answer = bank_answers.answer
left join bank_archive_answers
    on banks.bank_id = bank_archive_answers.bank_id
    and checkpoints.answer = bank_archive_answers.archive_answer
