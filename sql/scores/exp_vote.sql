-- exp_vote: the answer whose attempts' weights, exponentials of their scores, add up to the most so far; a tie goes to the answer seen first, whose earliest attempt is chosen.
-- grain: walk_id, position
-- needs: answers
with tallies as (
    select
        walked_attempts.walk_id,
        walked_attempts.position,
        scored.slot is not null as is_eligible,
        -- One integer orders (weight, first seen), as in majority; it may be larger than 64 bits.
        case
            when scored.slot is not null
            then sum(scored.exp_weight::hugeint) over tally * 1000000000 + (1000000000 - first_value(walked_attempts.position) over tally)
        end as standing,
    from walked_attempts
    left join candidate_scores as scored
        on walked_attempts.bank_id = scored.bank_id
        and walked_attempts.slot = scored.slot
        and scored.score = '{{ score | default('logprob') }}'
    window tally as (
        partition by walked_attempts.walk_id, scored.slot is not null, walked_attempts.answer_id
        order by walked_attempts.position
    )
)
select
    walk_id,
    position,
    is_eligible,
    (1000000000 - max(standing) over prefix % 1000000000)::integer as selected_position,
from tallies
window prefix as (partition by walk_id order by position)
