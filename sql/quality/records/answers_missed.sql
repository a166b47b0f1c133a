-- answers_missed: finished attempts without an answer although the source extracted one, of those
--     with an extraction.
-- grain: archive
select
    archive,
    count(*) filter (answer is null) as count,
    count(*) as total,
from attempts
where finish_reason = 'stop' and archive_answer is not null
group by archive
