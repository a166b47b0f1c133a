-- ballots: what the attempts of a sheet vote for, in their order, under each reading of their answers: twice the position where the vote is first given, and one more where the attempt is correct; null for no vote. Equal ballots are one poll.
-- grain: sheet_id, reading_id
-- 0 answer, 1 raw, 2 answer_or_none, 3 any_answer, 4 any_raw_or_none, 5 any_answer_and_label, 6 label, 7 any_label
-- A vote is twice what is voted for, 0 for "no answer", and one more where the attempt is correct.
with readings as (
    select
        sheet_id,
        unnest(range(8)) as reading_id,
        unnest([
            [case when a.is_eligible then 2 * a.answer_id + a.is_correct::integer end for a in sheet],
            [case when a.is_eligible then 2 * a.raw_answer_id + a.is_correct::integer end for a in sheet],
            [case when a.is_eligible then 2 * a.answer_id + a.is_correct::integer else 0 end for a in sheet],
            [case when a.has_answer then 2 * a.answer_id + a.is_correct::integer end for a in sheet],
            [case when a.has_answer then 2 * a.raw_answer_id + a.is_correct::integer else 0 end for a in sheet],
            [case when a.has_answer then 4 * a.answer_id + 3 * a.is_correct::integer end for a in sheet],
            [case when a.is_eligible then 2 + 3 * a.is_correct::integer end for a in sheet],
            [2 + 3 * a.is_correct::integer for a in sheet],
        ]) as votes,
    from sheets
    where walk_id = sheet_id
),
-- Which answer it is makes no difference to a count, so sheets of many banks are one poll.
numbered as (
    select
        sheet_id,
        reading_id,
        list_transform(
            votes,
            lambda vote: 2 * list_position(list_transform(votes, lambda other: other // 2), vote // 2) + vote % 2
        ) as votes,
    from readings
)
select
    numbered.sheet_id,
    numbered.reading_id,
    polls.poll_id,
    numbered.votes,
from numbered
inner join (select votes, min(8 * sheet_id + reading_id) as poll_id from numbered group by votes) as polls
    on numbered.votes = polls.votes
