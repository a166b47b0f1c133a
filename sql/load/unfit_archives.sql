-- unfit_archives: an archive without a finished attempt, or without an answer in those that are finished;
--     how many of those have an answer of the source's own, and how many a box (null without texts).
-- grain: archive
with unfit as (
    select archive
    from attempts
    group by archive
    having count(*) filter (eligible) = 0
)
select
    archive,
    count(*) as attempts,
    count(*) filter (finish_reason = 'stop') as finished,
    count(*) filter (finish_reason = 'stop' and archive_answer is not null) as archive_answers,
    if(count(texts.seed) = 0, null, count(*) filter (finish_reason = 'stop' and contains(texts.text, '\boxed{'))) as boxes,
from attempts
semi join unfit using (archive)
left join (from texts semi join unfit using (archive)) as texts using (archive, competition, question_id, seed)
group by archive
order by archive
