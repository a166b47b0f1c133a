-- How did the recorded attempts end, how many give an answer, and what did they cost?
select
    attempts.archive,
    attempts.competition,
    attempts.finish_reason,
    count(*) as attempts,
    count(*) filter (attempts.eligible) as eligible,
    sum(grades.correct::integer)::bigint as correct,
    sum(attempts.completion_tokens)::bigint as tokens,
    median(attempts.completion_tokens) as median_tokens,
from attempts
inner join grades using (archive, competition, question_id, seed)
group by attempts.archive, attempts.competition, attempts.finish_reason
order by attempts.archive, attempts.competition, attempts.finish_reason
