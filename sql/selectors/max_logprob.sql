-- max_logprob: the eligible attempt with the largest mean log-probability so far; a tie goes to the earliest.
-- grain: walk_id, position
select
    walk_id,
    position,
    logprob_rank is not null as is_eligible,
    -- One integer orders (rank, earliest), as in majority.
    (1000000000 - max(logprob_rank::bigint * 1000000000 - position) over prefix % 1000000000)::integer
        as selected_position,
from walked_attempts
window prefix as (partition by walk_id order by position)
