-- other_answers: how many random orders of a problem the other selectors answer at the primary
--     cap, and how many correctly; a problem without an answer has no row.
-- grain: selector_id, bank_id, budget, rule
-- kept: on demand by walks
select
    picks.selector_id,
    stops.bank_id,
    stops.budget,
    stops.rule,
    count(*) as answered,
    count(*) filter (candidate_grades.is_correct) as correct,
    count(*) filter (candidate_grades.is_repaired_correct) as repaired_correct,
from primary_stops as stops
inner join other_picks as picks
    on stops.walk_id = picks.walk_id
    and stops.returned >= picks.from_position
    and stops.returned < picks.until_position
inner join candidate_grades on picks.candidate_id = candidate_grades.candidate_id
where
    stops.repeat > 0
    and stops.walk_id between coalesce(getvariable('first_walk'), 0)
    and coalesce(getvariable('last_walk'), 9223372036854775807)
group by picks.selector_id, stops.bank_id, stops.budget, stops.rule
