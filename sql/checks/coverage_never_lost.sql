-- coverage_never_lost: what the strict pool covers the advisory pool covers too
-- grain: one row
select
    count(*) as looked_at,
    count(*) filter (is_strict_covered and not is_advisory_covered) as violations,
from paired_replays
