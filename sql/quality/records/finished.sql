-- finished: attempts that count as finished, of all.
-- grain: archive
select
    archive,
    count(*) filter (finish_reason = 'stop') as count,
    count(*) as total,
from attempts
group by archive
