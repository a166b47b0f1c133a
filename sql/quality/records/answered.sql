-- answered: finished attempts that have an answer, of all finished ones.
-- grain: archive
select
    archive,
    count(*) filter (eligible) as count,
    count(*) filter (finish_reason = 'stop') as total,
from attempts
group by archive
