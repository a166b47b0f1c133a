-- labels_in_conflict: answers of a problem that carry both labels, of all its answers.
-- grain: archive
select
    archive,
    count(*) filter (is_in_conflict) as count,
    count(*) as total,
from (
    select
        attempts.archive,
        min(labels.correct) <> max(labels.correct) as is_in_conflict,
    from attempts
    inner join labels
        on attempts.archive = labels.archive
        and attempts.competition = labels.competition
        and attempts.question_id = labels.question_id
        and attempts.seed = labels.seed
    where attempts.answer is not null and labels.correct is not null
    group by attempts.archive, attempts.competition, attempts.question_id, attempts.answer
)
group by archive
