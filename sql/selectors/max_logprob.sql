-- max_logprob: the eligible attempt with the largest mean log-probability so far; a tie goes to the earliest.
-- grain: bank_id, repeat, position
select
    bank_id,
    repeat,
    position,
    logprob_rank is not null as is_eligible,
    -- One integer orders (rank, earliest), as in majority.
    (1000000000 - max(logprob_rank::bigint * 1000000000 - position) over prefix % 1000000000)::integer
        as selected_position,
from steps
window prefix as (partition by bank_id, repeat order by position)
