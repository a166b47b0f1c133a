-- recorded_scores: a score that a file names of an attempt; those that are missing or not finite have no row.
-- grain: archive, competition, question_id, seed, score
select
    archive,
    competition,
    question_id,
    seed,
    named.score,
    named.value,
from (
    select
        archive,
        competition,
        question_id,
        seed,
        unnest(scores) as named,
    from incoming
    where len(scores) > 0
)
where named.value is not null
order by archive, competition, question_id, seed, named.score
