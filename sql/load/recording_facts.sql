-- recording_facts: what of the attempts is not simply as their logs have it: in what way, and in which
--     archives where it is not all of them.
-- grain: fact
with told as (
    select
        archive,
        origin,
        case
            when name in ('failed', 'finished') then name
            when name = 'completion_tokens' and starts_with(origin, 'counted with ') then 'tokens'
            when name = 'correct' and starts_with(origin, 'references') then 'grade'
        end as fact,
    from ({% include "load/origins.sql" %})
),
ways as (
    select
        fact,
        origin,
        string_agg(archive, ', ' order by archive) as archives,
        count(*) = (select count(distinct archive) from sources) as is_everywhere,
    from told
    where fact is not null
    group by fact, origin
)
select
    fact,
    if(
        count(*) = 1 and bool_and(is_everywhere),
        nullif(any_value(origin), ''),
        string_agg(format('{} ({})', origin, archives), '; ' order by origin)
    ) as value,
from ways
group by fact
order by fact
