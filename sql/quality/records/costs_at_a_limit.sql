-- costs_at_a_limit: finished attempts that cost exactly the most that any of the archive does,
--     counted where at least three do and others cost less, of all finished ones.
-- grain: archive
select
    archive,
    if(
        count(*) filter (completion_tokens = largest) >= 3 and min(completion_tokens) < any_value(largest),
        count(*) filter (completion_tokens = largest),
        0
    ) as count,
    count(*) as total,
from (
    select
        archive,
        completion_tokens,
        finish_reason,
        max(completion_tokens) over (partition by archive) as largest,
    from attempts
)
where finish_reason = 'stop'
group by archive
