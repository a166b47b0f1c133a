-- paired_labels: whether the primary selector is correct under both rules from the same random order at the primary cap; null without labels.
-- grain: walk_id, budget
select
    stops.walk_id,
    coverage.bank_id,
    stops.budget,
    bool_or(coalesce(prefix_grades.is_correct, false)) filter (stops.rule = 'strict' and coverage.is_graded) as is_strict_correct,
    bool_or(coalesce(prefix_grades.is_correct, false)) filter (stops.rule = 'advisory' and coverage.is_graded) as is_advisory_correct,
from primary_stops as stops
inner join coverage on stops.walk_id = coverage.walk_id
inner join prefix_selections on stops.returned_prefix_id = prefix_selections.prefix_id
inner join used_selectors on prefix_selections.selector_id = used_selectors.selector_id
left join prefix_grades on prefix_selections.selected_prefix_id = prefix_grades.prefix_id
where coverage.repeat > 0 and used_selectors.is_primary
group by stops.walk_id, coverage.bank_id, stops.budget
