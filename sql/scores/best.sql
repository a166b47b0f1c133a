-- best: the attempt with the largest score so far; a tie goes to the earliest.
-- grain: walk_id, position
select
    walked_attempts.walk_id,
    walked_attempts.position,
    scored.slot is not null as is_eligible,
    -- One integer orders (rank, earliest), as in majority.
    (1000000000 - max(scored.value_rank::bigint * 1000000000 - walked_attempts.position) over prefix % 1000000000)::integer
        as selected_position,
from walked_attempts
left join candidate_scores as scored
    on walked_attempts.bank_id = scored.bank_id
    and walked_attempts.slot = scored.slot
    and scored.score = '{{ score | default('logprob') }}'
window prefix as (partition by walked_attempts.walk_id order by walked_attempts.position)
