-- scores_tell_labels: pairs of a correct and an incorrect attempt of one bank in which the correct one
--     has the larger score, of all pairs, for the score of the archive in which the share is largest.
-- grain: archive
with ranked as (
    select
        archive,
        scores.score,
        labels.correct,
        count(*) filter (not labels.correct) over (bank) as incorrect,
        count(*) filter (not labels.correct) over (
            bank
            order by scores.value
            groups between unbounded preceding and 1 preceding
        ) as below,
    from scores
    inner join labels using (archive, competition, question_id, seed)
    where labels.correct is not null
    window bank as (partition by archive, scores.score, competition, question_id)
),
attempt_pairs as (
    select
        archive,
        score,
        sum(below) filter (correct) as count,
        sum(incorrect) filter (correct) as total,
    from ranked
    group by archive, score
)
select
    archive,
    -- A score that few pairs tell of never stands for one that many do.
    arg_max(count, (total >= 20, count / total))::bigint as count,
    arg_max(total, (total >= 20, count / total))::bigint as total,
    arg_max(score, (total >= 20, count / total)) as score,
from attempt_pairs
where total > 0
group by archive
