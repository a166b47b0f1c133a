-- selected_is_eligible: an answer comes from a returned attempt the selector may pick, and an
--     abstention from a pool without one
-- grain: one row
with eligible as (
    select
        eligible_attempts.selector_id,
        walked.walk_id,
        min(walked.position) as first_position,
    from walked
    inner join eligible_attempts on walked.candidate_id = eligible_attempts.candidate_id
    group by eligible_attempts.selector_id, walked.walk_id
),
held as (
    select
        selector_id,
        walk_id,
        min(from_position) as first_position,
    from picks
    group by selector_id, walk_id
)
select
    count(*) as looked_at,
    count(*) filter (
        (picks.selector_id is not null and (chosen.walk_id is null or may_pick.candidate_id is null))
        or chosen.position > picks.from_position
        or held.first_position is distinct from eligible.first_position
    ) as violations,
from eligible
full join held using (selector_id, walk_id)
left join picks
    on held.selector_id = picks.selector_id
    and held.walk_id = picks.walk_id
left join walked as chosen
    on picks.walk_id = chosen.walk_id
    and picks.candidate_id = chosen.candidate_id
left join eligible_attempts as may_pick
    on picks.selector_id = may_pick.selector_id
    and picks.candidate_id = may_pick.candidate_id
