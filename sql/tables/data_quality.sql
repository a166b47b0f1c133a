-- data_quality: whether an archive's records fit what is computed from them: one check, how many of
--     how many it finds, and what to do.
-- grain: archive, check
select
    archive,
    "check" || coalesce('_' || regexp_replace(level::decimal(28, 9)::varchar, '[.]?0+$', ''), '') as "check",
    count,
    total,
    share,
    severity,
    advice,
from (
{% include "quality/judged.sql" %}
)
order by archive, "check"
