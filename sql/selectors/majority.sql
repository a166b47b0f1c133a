-- majority: the boxed answer with the most votes so far; a tie goes to the answer seen first, whose earliest attempt is chosen.
-- grain: bank_id, repeat, position
with tallies as (
    select
        bank_id,
        repeat,
        position,
        is_eligible,
        -- One integer orders (votes, first seen); a struct key says the same and is slower.
        case
            when is_eligible
            then count(*) over tally * 1000000000 - min(position) over tally
        end as standing,
    from steps
    window tally as (partition by bank_id, repeat, is_eligible, answer_id order by position)
)
select
    bank_id,
    repeat,
    position,
    is_eligible,
    (1000000000 - max(standing) over prefix % 1000000000)::integer as selected_position,
from tallies
window prefix as (partition by bank_id, repeat order by position)
