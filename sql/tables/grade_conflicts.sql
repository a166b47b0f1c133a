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
from attempts
inner join grades
    on attempts.archive = grades.archive
    and attempts.competition = grades.competition
    and attempts.question_id = grades.question_id
    and attempts.seed = grades.seed
where attempts.answer is not null
group by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
having correct_count > 0 and incorrect_count > 0
order by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
