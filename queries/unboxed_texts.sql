-- Which attempts stopped by themselves without a usable boxed answer, and how do their texts end?
-- $characters = 60
select
    attempts.archive,
    attempts.competition,
    attempts.question_id,
    coalesce(problem_names.name, attempts.question_id::varchar) as problem,
    attempts.seed,
    attempts.completion_tokens,
    attempts.archive_answer,
    right(texts.text, $characters::integer) as ending,
from attempts
left join texts using (archive, competition, question_id, seed)
left join problem_names using (competition, question_id)
where
    attempts.finish_reason = 'stop'
    and attempts.answer is null
order by attempts.archive, attempts.competition, attempts.question_id, attempts.seed
