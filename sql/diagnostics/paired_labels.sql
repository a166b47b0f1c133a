-- paired_labels: whether the primary selector is correct under both rules from the same random
--     order at the primary cap; null without labels.
-- grain: walk_id, budget
select
    coverage.walk_id,
    coverage.bank_id,
    paired_stops.budget,
    case when coverage.is_graded then paired_stops.strict_prefix_id in (select prefix_id from correct_prefixes) end
        as is_strict_correct,
    case when coverage.is_graded then paired_stops.advisory_prefix_id in (select prefix_id from correct_prefixes) end
        as is_advisory_correct,
from paired_stops
inner join coverage on paired_stops.walk_id = coverage.walk_id
where coverage.repeat > 0
