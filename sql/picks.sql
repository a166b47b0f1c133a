-- picks: the attempt a selector returns from a replay, and its labels; an abstention has no slot and is incorrect.
-- grain: rule_id, selector_id, bank_id, repeat, cap, budget
select
    ledger.rule_id,
    choices.selector_id,
    ledger.bank_id,
    ledger.repeat,
    ledger.cap,
    ledger.budget,
    chosen.slot,
    coalesce(candidate_grades.is_correct, false) as is_correct,
    coalesce(candidate_grades.is_repaired_correct, false) as is_repaired_correct,
from ledger
inner join choices
    on ledger.bank_id = choices.bank_id
    and ledger.repeat = choices.repeat
    and ledger.returned = choices.position
left join steps as chosen
    on choices.bank_id = chosen.bank_id
    and choices.repeat = chosen.repeat
    and choices.selected_position = chosen.position
left join candidate_grades
    on chosen.bank_id = candidate_grades.bank_id
    and chosen.slot = candidate_grades.slot
