-- coverage: the first position whose attempt is eligible for the primary selector and labelled correct; no row where there is none.
-- grain: bank_id, repeat
select
    steps.bank_id,
    steps.repeat,
    min(steps.position) as covered_from,
from steps
inner join choices
    on steps.bank_id = choices.bank_id
    and steps.repeat = choices.repeat
    and steps.position = choices.position
inner join selectors on choices.selector_id = selectors.selector_id
inner join candidate_grades
    on steps.bank_id = candidate_grades.bank_id
    and steps.slot = candidate_grades.slot
where selectors.is_primary and choices.is_eligible and candidate_grades.is_correct
group by steps.bank_id, steps.repeat
