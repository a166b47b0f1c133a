-- sampling_mixed: attempts at another temperature or top_p than most of the archive, of those that
--     record any.
-- grain: archive
select
    archive,
    (sum(attempts) - max(attempts))::bigint as count,
    sum(attempts)::bigint as total,
from (
    select
        archive,
        count(*) as attempts,
    from attempts
    where temperature is not null or top_p is not null
    group by archive, temperature, top_p
)
group by archive
