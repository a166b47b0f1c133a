-- pools_nested: the advisory pool is the strict pool or one attempt more, and so is its eligible part
-- grain: one row
select
    count(*) as looked_at,
    count(*) filter (
        advisory_returned - strict_returned not between 0 and 1
        or advisory_eligible - strict_eligible not between 0 and 1
    ) as violations,
from paired_replays
