-- right_not_eligible: attempts labelled right that may not be picked, unfinished or without an
--     answer, of all that are labelled right.
-- grain: archive
select
    labels.archive,
    count(*) filter (not attempts.eligible) as count,
    count(*) as total,
from labels
inner join attempts
    on labels.archive = attempts.archive
    and labels.competition = attempts.competition
    and labels.question_id = attempts.question_id
    and labels.seed = attempts.seed
where labels.correct
group by labels.archive
