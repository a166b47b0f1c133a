-- replay_selections: the attempt a selector returns from a replay, and its labels; an abstention
--     has no slot and is incorrect, and without labels nothing is either.
-- grain: rule, selector_id, walk_id, cap, budget
select
    stops.rule,
    prefix_selections.selector_id,
    stops.walk_id,
    coverage.bank_id,
    coverage.repeat,
    stops.cap,
    stops.budget,
    prefix_grades.slot,
    case when coverage.is_graded then coalesce(prefix_grades.is_correct, false) end as is_correct,
    case when coverage.is_graded then coalesce(prefix_grades.is_repaired_correct, false) end as is_repaired_correct,
from stops
inner join coverage on stops.walk_id = coverage.walk_id
inner join prefix_selections on stops.returned_prefix_id = prefix_selections.prefix_id
left join prefix_grades on prefix_selections.selected_prefix_id = prefix_grades.prefix_id
