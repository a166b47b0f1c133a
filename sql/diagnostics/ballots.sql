-- ballots: what an attempt of a random order votes for under each reading of its answer, 0 for "no answer", null for no vote; some readings vote on labels, so this is evaluation only.
-- grain: poll_id, position
-- A poll is a walk under one of the eight readings: in this order, and numbered 8 * walk_id + reading_id.
-- 0 answer, 1 raw, 2 answer_or_none, 3 any_answer, 4 any_raw_or_none, 5 any_answer_and_label, 6 label, 7 any_label
with written as (
    select
        candidates.bank_id,
        candidates.slot,
        candidates.answer is not null as has_answer,
        dense_rank() over (partition by candidates.bank_id order by raw_answers.raw_answer)::integer as raw_answer_id,
    from candidates
    inner join banks using (bank_id)
    inner join archives using (archive_id)
    inner join problems using (problem_id)
    left join raw_answers using (archive, competition, question_id, seed)
),
attempts_in_order as (
    select
        walked_attempts.walk_id,
        walked_attempts.position,
        walked_attempts.is_eligible,
        written.has_answer,
        walked_attempts.answer_id,
        written.raw_answer_id,
        candidate_grades.is_correct,
    from walked_attempts
    inner join (
        select
            stops.walk_id,
            max(stops.returned) as returned,
        from primary_stops as stops
        inner join coverage on stops.walk_id = coverage.walk_id
        where coverage.repeat > 0 and coverage.is_graded
        group by stops.walk_id
    ) as largest_pool
        on walked_attempts.walk_id = largest_pool.walk_id
        and walked_attempts.position <= largest_pool.returned
    inner join written on walked_attempts.bank_id = written.bank_id and walked_attempts.slot = written.slot
    inner join candidate_grades on walked_attempts.bank_id = candidate_grades.bank_id and walked_attempts.slot = candidate_grades.slot
)
select
    8 * walk_id + unnest(range(8)) as poll_id,
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
