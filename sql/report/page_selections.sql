-- page_selections: what a selector picks from a prefix, and whether it may pick the attempt at its end; position 0 is left out.
-- grain: selector_id, bank_id, repeat, position
select
    prefix_selections.selector_id,
    walked_attempts.bank_id,
    bank_orders.repeat,
    walked_attempts.position,
    prefix_selections.is_eligible,
    prefix_selections.selected_prefix_id - walked_attempts.walk_id as selected_position,
from prefix_selections
inner join walked_attempts on prefix_selections.prefix_id = walked_attempts.prefix_id
inner join bank_orders on walked_attempts.walk_id = bank_orders.walk_id
where
    bank_orders.repeat <= $orders
    and walked_attempts.position > 0
