-- judged: the counts of checks, judged by the thresholds.
-- grain: archive, check, level
with measured as (
    select
        archive,
        "check",
        level,
        count,
        total,
        100 * count / nullif(total, 0) as share,
    from quality_counts
    -- A replay of some problems has counted the records of those.
    where is_of_replay or not exists (from unreplayed_problems)
),
judged as (
    select
        measured.*,
        thresholds.advice,
        case
            when measured.total < thresholds.least or measured.share >= thresholds.ok_from then 'ok'
            when coalesce(measured.share < thresholds.fail_below or measured.share > thresholds.fail_above, false) then 'fail'
            when coalesce(measured.share < thresholds.warn_below or measured.share > thresholds.warn_above, false) then 'warn'
            else 'ok'
        end as severity,
    from measured
    inner join (
{% include "quality/thresholds.sql" %}
    ) as thresholds on measured."check" = thresholds."check"
)
select
    archive,
    "check",
    level,
    count,
    total,
    share,
    severity,
    advice,
from judged
order by archive, "check", level
