-- repeats_told_apart_by: attempts of files in which a column that was not loaded splits the repeats of each problem evenly.
-- grain: archive
select
    archive,
    coalesce(round(sum(attempts) filter (json_extract_string(mapping, '$.told_apart_by') is not null)), 0)::bigint as count,
    round(sum(attempts))::bigint as total,
from ({% include "quality/file_attempts.sql" %})
group by archive
