-- scores_tell_labels: labelled attempts with a score, counted where at least 20 have it and every
--     correct one has a larger score than every incorrect one; over all scores of the archive.
-- grain: archive
select
    archive,
    coalesce(sum(attempts) filter (attempts >= 20 and least_correct > most_incorrect), 0)::bigint as count,
    sum(attempts)::bigint as total,
from (
    select
        scores.archive,
        scores.score,
        count(*) as attempts,
        min(scores.value) filter (labels.correct) as least_correct,
        max(scores.value) filter (not labels.correct) as most_incorrect,
    from scores
    inner join labels
        on scores.archive = labels.archive
        and scores.competition = labels.competition
        and scores.question_id = labels.question_id
        and scores.seed = labels.seed
    where labels.correct is not null
    group by scores.archive, scores.score
)
group by archive
