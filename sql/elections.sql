-- elections: the leading votes of a prefix under each reading: how many are tied, how many of those are correct, and whether the one seen first and the one seen last are; a vote's earliest attempt stands for it.
-- grain: reading, bank_id, repeat, position
with tallies as (
    select
        reading,
        bank_id,
        repeat,
        position,
        case when vote is not null then count(*) over tally end as votes,
        min(position) over tally as first_position,
        first_value(is_correct) over tally as is_correct,
    from ballots
    window tally as (partition by reading, bank_id, repeat, vote order by position)
),
-- A vote reaches each count once: those that have reached the highest count are the tied ones.
standings as (
    select
        reading,
        bank_id,
        repeat,
        position,
        votes,
        max(votes) over prefix as leading_votes,
        count(*) over reached as tied,
        count(*) filter (is_correct) over reached as tied_correct,
        min(2 * first_position + is_correct::integer) over reached % 2 = 1 as is_first_correct,
        is_correct as is_last_correct,
    from tallies
    window
        prefix as (partition by reading, bank_id, repeat order by position),
        reached as (partition by reading, bank_id, repeat, votes order by position)
)
select
    reading,
    bank_id,
    repeat,
    position,
    last_value(case when votes = leading_votes then tied end ignore nulls) over prefix as tied,
    last_value(case when votes = leading_votes then tied_correct end ignore nulls) over prefix as tied_correct,
    last_value(case when votes = leading_votes then is_first_correct end ignore nulls) over prefix as is_first_correct,
    last_value(case when votes = leading_votes then is_last_correct end ignore nulls) over prefix as is_last_correct,
from standings
window prefix as (partition by reading, bank_id, repeat order by position)
