-- correct_prefixes: the prefixes from which the primary selector picks an attempt labelled correct.
-- grain: prefix_id
select
    prefix_selections.prefix_id,
    prefix_selections.prefix_id - prefix_selections.position as walk_id,
    prefix_grades.bank_id,
from prefix_selections
inner join used_selectors on prefix_selections.selector_id = used_selectors.selector_id
inner join prefix_grades on prefix_selections.selected_prefix_id = prefix_grades.prefix_id
where used_selectors.is_primary and prefix_grades.is_correct
