-- max_logprob: the eligible attempt with the largest mean log-probability so far; a tie goes to the
--     earliest.
-- grain: walk_id, position
select
    walk_id,
    position,
    logprob_rank as standing,
    candidate_id,
from walked_attempts
where logprob_rank is not null
