-- page_selections: what a selector picks from a prefix, and whether it may pick the attempt at its
--     end; position 0 is left out.
-- grain: selector_id, bank_id, repeat, position
select
    prefix_selections.selector_id,
    walks.bank_id,
    walks.repeat,
    prefix_selections.position,
    prefix_selections.is_eligible,
    prefix_selections.selected_prefix_id - walks.walk_id as selected_position,
from prefix_selections
inner join walks on prefix_selections.prefix_id - prefix_selections.position = walks.walk_id
where
    walks.repeat <= $orders
    and walks.bank_id in (select unnest($banks::bigint[]))
    and prefix_selections.position > 0
