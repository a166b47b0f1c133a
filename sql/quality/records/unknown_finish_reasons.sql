-- unknown_finish_reasons: attempts that ended for a reason with no known meaning, of all.
-- grain: archive
select
    archive,
    coalesce(sum(attempts) filter (finish_reason <> 'stop' and not is_unfinished), 0)::bigint as count,
    sum(attempts)::bigint as total,
from ({% include "load/archive_finish_reasons.sql" %})
group by archive
