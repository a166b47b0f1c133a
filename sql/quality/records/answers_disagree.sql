-- answers_disagree: attempts whose answer is not the one that the source extracted, of those that
--     have both; where that one is the answer, or a whole text, there is nothing to compare.
-- grain: archive
select
    archive,
    count(*) filter (answer <> archive_answer) as count,
    count(*) as total,
from attempts
where answer is not null
    and length(archive_answer) <= 200
    and not contains(archive_answer, '\boxed')
    and not exists (select 1 from meta where key = 'answer' and value = 'archive')
group by archive
