-- best: the attempt with the largest score so far; a tie goes to the earliest.
-- grain: walk_id, position
select
    walked_attempts.walk_id,
    walked_attempts.position,
    scored.value_rank as standing,
    walked_attempts.candidate_id,
from walked_attempts
inner join candidate_scores as scored
    on walked_attempts.candidate_id = scored.candidate_id
    and scored.score = '{{ score | default('logprob') }}'
