-- eligible_counts: how many attempts the primary selector may pick up to a position of a walk.
-- grain: walk_id, position
select
    walked.walk_id,
    walked.position,
    (count(eligible_attempts.candidate_id) over walk)::integer as eligible_count,
from walked
left join eligible_attempts
    on walked.candidate_id = eligible_attempts.candidate_id
    and eligible_attempts.is_primary
window walk as (partition by walked.walk_id order by walked.position rows unbounded preceding)
