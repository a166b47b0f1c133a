-- coverage: the first position whose attempt is eligible for the primary selector and labelled correct; no row where there is none.
-- grain: bank_id, repeat
select
    steps.bank_id,
    steps.repeat,
    min(steps.position) as covered_from,
from steps
inner join candidate_grades
    on steps.bank_id = candidate_grades.bank_id
    and steps.slot = candidate_grades.slot
    and candidate_grades.is_correct
semi join (
    select choices.*
    from choices
    inner join selectors on choices.selector_id = selectors.selector_id
    where selectors.is_primary and choices.is_eligible
) as eligible
    on steps.bank_id = eligible.bank_id
    and steps.repeat = eligible.repeat
    and steps.position = eligible.position
group by steps.bank_id, steps.repeat
