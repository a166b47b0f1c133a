-- costs_counted: attempts of files whose completion tokens were counted and not recorded, of all.
-- grain: archive
select
    archive,
    coalesce(
        sum(rows) filter (starts_with(json_extract_string(mapping, '$.completion_tokens'), 'counted with ')),
        0
    )::bigint as count,
    sum(rows)::bigint as total,
from sources
group by archive
