-- pickable: the attempts that a selector may pick; the canonical order shows every attempt.
-- grain: selector_id, bank_id, slot
select
    choices.selector_id,
    steps.bank_id,
    steps.slot,
from choices
inner join steps on choices.walk_id + choices.position = steps.walk_id + steps.position
inner join walks on choices.walk_id = walks.walk_id
where walks.repeat = 0 and choices.is_eligible
