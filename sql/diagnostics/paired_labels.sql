-- paired_labels: whether the primary selector is correct under both rules from the same random
--     order at the primary cap; null without labels.
-- grain: walk_id, budget
select
    coverage.walk_id,
    coverage.bank_id,
    paired_stops.budget,
    case when coverage.is_graded then strict.walk_id is not null end as is_strict_correct,
    case when coverage.is_graded then advisory.walk_id is not null end as is_advisory_correct,
from paired_stops
inner join coverage on paired_stops.walk_id = coverage.walk_id
left join correct_picks as strict
    on paired_stops.walk_id = strict.walk_id
    and paired_stops.strict_returned >= strict.from_position
    and paired_stops.strict_returned < strict.until_position
left join correct_picks as advisory
    on paired_stops.walk_id = advisory.walk_id
    and paired_stops.advisory_returned >= advisory.from_position
    and paired_stops.advisory_returned < advisory.until_position
where coverage.repeat > 0
