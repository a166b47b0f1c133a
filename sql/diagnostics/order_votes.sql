-- order_votes: what each attempt of a random order may vote for, up to the most that a rule returns
--     at the primary cap. Orders with equal lists share an order_votes_id, that of one of their
--     walks. Labels are in it, so this is evaluation only.
-- grain: walk_id
with written as (
    select
        candidates.bank_id,
        list(
            {
                'is_eligible': candidates.is_eligible,
                'has_answer': candidates.answer is not null,
                'answer_id': candidates.answer_id,
                'raw_answer_id': candidates.raw_answer_id,
                'is_correct': candidate_grades.is_correct,
            }
            order by candidates.slot
        ) as attempts,
    from (
        select
            candidates.*,
            dense_rank() over (partition by candidates.bank_id order by raw_answers.raw_answer)::integer as raw_answer_id,
        from candidates
        inner join banks using (bank_id)
        inner join archives using (archive_id)
        inner join problems using (problem_id)
        left join raw_answers using (archive, competition, question_id, seed)
    ) as candidates
    inner join candidate_grades
        on candidates.bank_id = candidate_grades.bank_id
        and candidates.slot = candidate_grades.slot
    group by candidates.bank_id
),
filled as (
    select
        coverage.walk_id,
        coverage.bank_id,
        list_select(
            written.attempts,
            list_transform(drawn_orders.slots[:largest_pool.returned], lambda slot: slot + 1)
        ) as attempts,
    from coverage
    inner join banks on coverage.bank_id = banks.bank_id
    inner join written on coverage.bank_id = written.bank_id
    inner join drawn_orders
        on banks.problem_id = drawn_orders.problem_id
        and banks.bank_size = drawn_orders.bank_size
        and coverage.repeat = drawn_orders.repeat
    inner join (
        select
            walk_id,
            max(returned) as returned,
        from primary_stops
        where rule in ('strict', 'advisory')
        group by walk_id
    ) as largest_pool
        on coverage.walk_id = largest_pool.walk_id
    where coverage.repeat > 0 and coverage.is_graded
)
select
    filled.walk_id,
    filled.bank_id,
    kinds.order_votes_id,
    filled.attempts,
from filled
inner join (select attempts, min(walk_id) as order_votes_id from filled group by attempts) as kinds
    on filled.attempts = kinds.attempts
