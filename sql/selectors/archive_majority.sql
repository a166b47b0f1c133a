-- archive_majority: the archive answer with the most votes so far; a tie goes to the answer seen
--     first, whose earliest attempt is chosen.
-- grain: walk_id, position
-- needs: answers
-- votes on: archive_answer
with standings as (
    select
        walk_id,
        position,
        -- One integer orders (votes, first seen); a struct key says the same and is slower.
        row_number() over tally * 1000000000 - first_value(position) over tally as standing,
    from walked_attempts
    where is_archive_eligible
    -- Answers are numbered within a bank, and walk_id leaves room for as many: one key is sorted faster than three.
    window tally as (partition by walk_id + archive_answer_id order by position)
    union all
    select
        walk_id,
        position,
        null as standing,
    from walked_attempts
    where not is_archive_eligible
)
select
    walk_id,
    position,
    standing is not null as is_eligible,
    (1000000000 - max(standing) over prefix % 1000000000)::integer as selected_position,
from standings
window prefix as (partition by walk_id order by position)
