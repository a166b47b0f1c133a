-- majority_votes: the leading votes of a prefix of distinct votes: how many are tied, how many of
--     those are correct, and whether the one seen first and the one seen last are; a vote's
--     earliest attempt stands for it.
-- grain: distinct_votes_id, position
with counted as (
    select
        distinct_votes_id,
        position,
        case when vote is not null then row_number() over tally end as votes,
        first_value(position) over tally as first_position,
        first_value(vote % 2 = 1) over tally as is_correct,
    from (
        select
            distinct_votes_id,
            unnest(votes) as vote,
            unnest(range(1, len(votes) + 1)) as position,
        from votes_by_definition
        where distinct_votes_id = 8 * order_votes_id + definition_id
    )
    window tally as (partition by distinct_votes_id, vote // 2 order by position)
),
-- A vote reaches each count once: those that have reached the highest count are the tied ones.
standings as (
    select
        distinct_votes_id,
        position,
        votes,
        max(votes) over prefix as leading_votes,
        row_number() over reached as tied,
        count(*) filter (is_correct) over reached as tied_correct,
        min(2 * first_position + is_correct::integer) over reached % 2 = 1 as is_first_correct,
        is_correct as is_last_correct,
    from counted
    window
        prefix as (partition by distinct_votes_id order by position),
        reached as (partition by distinct_votes_id, votes order by position)
)
select
    distinct_votes_id,
    position,
    last_value(case when votes = leading_votes then tied end ignore nulls) over prefix as tied,
    last_value(case when votes = leading_votes then tied_correct end ignore nulls) over prefix as tied_correct,
    last_value(case when votes = leading_votes then is_first_correct end ignore nulls) over prefix as is_first_correct,
    last_value(case when votes = leading_votes then is_last_correct end ignore nulls) over prefix as is_last_correct,
from standings
window prefix as (partition by distinct_votes_id order by position)
