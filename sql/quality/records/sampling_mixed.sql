-- sampling_mixed: attempts at another temperature, top_p or max_tokens than most of the archive, of
--     those that record any.
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
    where coalesce(temperature, top_p, max_tokens) is not null
    group by archive, temperature, top_p, max_tokens
)
group by archive
