-- coverage: the first position whose attempt is eligible for the primary selector and labelled correct; no row where there is none.
-- grain: walk_id
select
    steps.walk_id,
    min(steps.position) as covered_from,
from steps
inner join eligible
    on steps.bank_id = eligible.bank_id
    and steps.slot = eligible.slot
inner join candidate_grades
    on steps.bank_id = candidate_grades.bank_id
    and steps.slot = candidate_grades.slot
where candidate_grades.is_correct
group by steps.walk_id
