-- Which attempts were made at one problem, in canonical order, and what did each answer?
-- $archive =
-- $competition =
-- $question_id =
-- An empty parameter means the first there is; a problem goes by its name or number. Votes count the eligible attempts with the answer.
select
    attempts.seed,
    attempts.completion_tokens,
    attempts.finish_reason,
    attempts.answer,
    attempts.eligible,
    grades.correct,
    case
        when attempts.answer is null then null
        when attempts.eligible then count(*) filter (attempts.eligible) over same_answer
        else 0
    end as votes,
from attempts
inner join grades using (archive, competition, question_id, seed)
left join problem_names using (competition, question_id)
where
    $archive in ('', attempts.archive)
    and $competition in ('', attempts.competition)
    and $question_id in ('', problem_names.name, attempts.question_id::varchar)
window
    same_answer as (
        partition by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
    )
qualify
    dense_rank() over (
        order by attempts.archive, attempts.competition, attempts.question_id
    ) = 1
order by attempts.seed
