-- picks: the attempt a selector returns from a replay, and its labels; an abstention has no slot and is incorrect.
-- grain: rule_id, selector_id, walk_id, cap, budget
select
    stops.rule_id,
    choices.selector_id,
    stops.walk_id,
    walks.bank_id,
    walks.repeat,
    stops.cap,
    stops.budget,
    choices.slot,
    coalesce(candidate_grades.is_correct, false) as is_correct,
    coalesce(candidate_grades.is_repaired_correct, false) as is_repaired_correct,
from stops
inner join walks on stops.walk_id = walks.walk_id
inner join choices on stops.walk_id + stops.returned = choices.walk_id + choices.position
left join candidate_grades
    on walks.bank_id = candidate_grades.bank_id
    and choices.slot = candidate_grades.slot
