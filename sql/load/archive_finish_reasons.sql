-- archive_finish_reasons: how often an archive's attempts ended for a reason.
-- grain: archive, finish_reason
select
    archive,
    finish_reason,
    count(*) as attempts,
from attempts
group by archive, finish_reason
order by archive, attempts desc, finish_reason
