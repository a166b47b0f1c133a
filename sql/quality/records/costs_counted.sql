-- costs_counted: attempts of files whose completion tokens were counted and not recorded, of all.
-- grain: archive
select
    archive,
    coalesce(round(sum(attempts) filter (starts_with(json_extract_string(mapping, '$.completion_tokens'), 'counted with '))), 0)::bigint as count,
    round(sum(attempts))::bigint as total,
from ({% include "quality/file_attempts.sql" %})
group by archive
