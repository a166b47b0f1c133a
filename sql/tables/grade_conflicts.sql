-- grade_conflicts: a normalized box that carries both labels in one archive and problem; resolved
--     when its repaired labels agree.
-- grain: archive, competition, question_id, answer
select
    attempts.archive,
    attempts.competition,
    attempts.question_id,
    attempts.answer,
    count(*) filter (grades.correct) as correct_count,
    count(*) filter (not grades.correct) as incorrect_count,
    bool_and(grades.repaired_correct) or not bool_or(grades.repaired_correct) as resolved,
    coalesce(any_value(problem_names.name), attempts.question_id::varchar) as problem,
from attempts
inner join grades
    on attempts.archive = grades.archive
    and attempts.competition = grades.competition
    and attempts.question_id = grades.question_id
    and attempts.seed = grades.seed
anti join unreplayed_problems as unreplayed
    on attempts.archive = unreplayed.archive
    and attempts.competition = unreplayed.competition
    and attempts.question_id = unreplayed.question_id
left join problem_names
    on attempts.competition = problem_names.competition
    and attempts.question_id = problem_names.question_id
where attempts.answer is not null
group by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
having correct_count > 0 and incorrect_count > 0
order by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
