-- page_selections: what a selector picks from a prefix, and whether it may pick the attempt at its end; position 0 is left out.
-- grain: selector_id, bank_id, repeat, position
select
    choices.selector_id,
    walks.bank_id,
    walks.repeat,
    choices.position,
    choices.is_eligible,
    choices.selected_position,
from choices
inner join walks on choices.walk_id = walks.walk_id
where
    walks.repeat <= $orders
    and choices.position > 0
