-- votes_by_definition: the votes of an order under one of eight definitions, as a list; a vote is 2
--     × (first position of that answer) + (1 if correct), null for none. Orders with equal lists
--     share a distinct_votes_id, so each distinct list is counted once.
-- grain: order_votes_id, definition_id
-- 0 answer, 1 raw, 2 answer_or_none, 3 any_answer, 4 any_raw_or_none, 5 any_answer_and_label, 6 label, 7 any_label
-- A vote is twice what is voted for, 0 for "no answer", and one more where the attempt is correct.
with cast_votes as (
    select
        order_votes_id,
        unnest(range(8)) as definition_id,
        unnest([
            [case when a.is_eligible then 2 * a.answer_id + a.is_correct::integer end for a in attempts],
            [case when a.is_eligible then 2 * a.raw_answer_id + a.is_correct::integer end for a in attempts],
            [case when a.is_eligible then 2 * a.answer_id + a.is_correct::integer else 0 end for a in attempts],
            [case when a.has_answer then 2 * a.answer_id + a.is_correct::integer end for a in attempts],
            [case when a.has_answer then 2 * a.raw_answer_id + a.is_correct::integer else 0 end for a in attempts],
            [case when a.has_answer then 4 * a.answer_id + 3 * a.is_correct::integer end for a in attempts],
            [case when a.is_eligible then 2 + 3 * a.is_correct::integer end for a in attempts],
            [2 + 3 * a.is_correct::integer for a in attempts],
        ]) as votes,
    from order_votes
    where walk_id = order_votes_id
),
-- Which answer it is makes no difference to a count, so orders of many banks share one list.
numbered as (
    select
        order_votes_id,
        definition_id,
        list_transform(
            votes,
            lambda vote: 2 * list_position(list_transform(votes, lambda other: other // 2), vote // 2) + vote % 2
        ) as votes,
    from cast_votes
)
select
    numbered.order_votes_id,
    numbered.definition_id,
    distinct_votes.distinct_votes_id,
    numbered.votes,
from numbered
inner join (select votes, min(8 * order_votes_id + definition_id) as distinct_votes_id from numbered group by votes) as distinct_votes
    on numbered.votes = distinct_votes.votes
