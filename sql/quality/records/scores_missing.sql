-- scores_missing: attempts that may be picked and lack a score that others of the archive have, of
--     all that may be picked; log-probabilities have a check of their own.
-- grain: archive
with named as (
    select
        archive,
        count(distinct score) as scores,
    from recorded_scores
    group by archive
),
scored as (
    select
        archive,
        competition,
        question_id,
        seed,
        count(*) as scores,
    from recorded_scores
    group by archive, competition, question_id, seed
)
select
    attempts.archive,
    count(*) filter (coalesce(scored.scores, 0) < named.scores) as count,
    count(*) as total,
from attempts
inner join named on attempts.archive = named.archive
left join scored
    on attempts.archive = scored.archive
    and attempts.competition = scored.competition
    and attempts.question_id = scored.question_id
    and attempts.seed = scored.seed
where attempts.eligible
group by attempts.archive
