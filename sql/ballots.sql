-- ballots: what an attempt of a random order votes for under each reading of its answer, 0 for "no answer", null for no vote; some readings vote on labels, so this is evaluation only.
-- grain: reading, bank_id, repeat, position
with written as (
    select
        candidates.bank_id,
        candidates.slot,
        candidates.answer is not null as has_answer,
        dense_rank() over (partition by candidates.bank_id order by raw_answers.raw_answer)::integer as raw_answer_id,
    from candidates
    inner join banks on candidates.bank_id = banks.bank_id
    inner join archives on banks.archive_id = archives.archive_id
    inner join problems on banks.problem_id = problems.problem_id
    left join raw_answers
        on archives.archive = raw_answers.archive
        and problems.competition = raw_answers.competition
        and problems.question_id = raw_answers.question_id
        and candidates.seed = raw_answers.seed
),
attempts_in_order as (
    select
        steps.bank_id,
        steps.repeat,
        steps.position,
        steps.is_eligible,
        written.has_answer,
        steps.answer_id,
        written.raw_answer_id,
        candidate_grades.is_correct,
    from steps
    inner join (
        select
            stops.bank_id,
            stops.repeat,
            max(stops.returned) as returned,
        from stops
        inner join caps on stops.cap = caps.cap
        where caps.is_primary and stops.repeat > 0
        group by stops.bank_id, stops.repeat
    ) as largest_pool
        on steps.bank_id = largest_pool.bank_id
        and steps.repeat = largest_pool.repeat
        and steps.position <= largest_pool.returned
    inner join written on steps.bank_id = written.bank_id and steps.slot = written.slot
    inner join candidate_grades on steps.bank_id = candidate_grades.bank_id and steps.slot = candidate_grades.slot
)
select
    unnest([
        'answer',
        'raw',
        'answer_or_none',
        'any_answer',
        'any_raw_or_none',
        'any_answer_and_label',
        'label',
        'any_label',
    ]) as reading,
    bank_id,
    repeat,
    position,
    unnest([
        case when is_eligible then answer_id end,
        case when is_eligible then raw_answer_id end,
        case when is_eligible then answer_id else 0 end,
        case when has_answer then answer_id end,
        case when has_answer then raw_answer_id else 0 end,
        case when has_answer then 2 * answer_id + is_correct::integer end,
        case when is_eligible then 1 + is_correct::integer end,
        1 + is_correct::integer,
    ]) as vote,
    unnest([
        is_correct,
        is_correct,
        is_correct and is_eligible,
        is_correct,
        is_correct and has_answer,
        is_correct,
        is_correct,
        is_correct,
    ]) as is_correct,
from attempts_in_order
