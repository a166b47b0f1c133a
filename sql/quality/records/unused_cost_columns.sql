-- unused_cost_columns: attempts of files with a numeric column named like a cost that was not loaded.
-- grain: archive
select
    archive,
    coalesce(round(sum(attempts) filter (json_extract_string(mapping, '$.unused_costs') is not null)), 0)::bigint as count,
    round(sum(attempts))::bigint as total,
from ({% include "quality/file_attempts.sql" %})
group by archive
