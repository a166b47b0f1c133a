-- unfit_archives: an archive without a finished attempt, or without an answer in those that are finished.
-- grain: archive
select
    archive,
    count(*) as attempts,
    count(*) filter (finish_reason = 'stop') as finished,
    count(*) filter (finish_reason = 'stop' and archive_answer is not null) as archive_answers,
from attempts
group by archive
having count(*) filter (eligible) = 0
order by archive
