-- coverage: the first position whose attempt is eligible for the primary selector and labelled correct; no row where there is none.
-- grain: walk_id
select
    steps.walk_id,
    min(steps.position) as covered_from,
from steps
inner join pickable
    on steps.bank_id = pickable.bank_id
    and steps.slot = pickable.slot
inner join selectors on pickable.selector_id = selectors.selector_id
inner join candidate_grades
    on steps.bank_id = candidate_grades.bank_id
    and steps.slot = candidate_grades.slot
where selectors.is_primary and candidate_grades.is_correct
group by steps.walk_id
