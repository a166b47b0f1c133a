-- cut_replays: a strict replay at the primary cap that ends inside an attempt, and how many of its tokens
--     the budget still paid for.
-- grain: walk_id, budget
select
    stops.walk_id,
    stops.budget,
    stops.launched as position,
    walked.candidate_id,
    stops.budget - walked.cumulative_cost + candidates.cost as remaining,
    -- Whether a returned attempt is eligible for the primary selector.
    picks.candidate_id is null as is_empty,
from primary_stops as stops
inner join walked
    on stops.walk_id = walked.walk_id
    and stops.launched = walked.position
inner join candidates on walked.candidate_id = candidates.candidate_id
left join primary_picks as picks
    on stops.walk_id = picks.walk_id
    and stops.returned >= picks.from_position
    and stops.returned < picks.until_position
where
    stops.rule = 'strict'
    and stops.launched > stops.returned
    and stops.walk_id between coalesce(getvariable('first_walk'), 0)
    and coalesce(getvariable('last_walk'), 9223372036854775807)
