-- banks_below_cap: problems with fewer attempts than a cap of the run, of all.
-- grain: archive, level
select
    sizes.archive,
    caps.cap as level,
    count(*) filter (sizes.attempts < caps.cap) as count,
    count(*) as total,
from (
    select
        archive,
        count(*) as attempts,
    from attempts
    group by archive, competition, question_id
) as sizes
cross join caps
group by sizes.archive, caps.cap
