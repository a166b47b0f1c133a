-- Which answers are labelled correct in one attempt and wrong in another, and does repair settle it?
select
    attempts.archive,
    attempts.competition,
    attempts.question_id,
    coalesce(any_value(problem_names.name), attempts.question_id::varchar) as problem,
    attempts.answer,
    count(*) filter (grades.correct) as labelled_correct,
    count(*) filter (not grades.correct) as labelled_wrong,
    count(*) filter (grades.repaired_correct) as correct_after_repair,
    bool_and(grades.repaired_correct) or not bool_or(grades.repaired_correct) as is_settled,
from attempts
inner join grades using (archive, competition, question_id, seed)
left join problem_names using (competition, question_id)
where attempts.answer is not null
group by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
having bool_or(grades.correct) and not bool_and(grades.correct)
order by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
