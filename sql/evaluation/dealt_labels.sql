-- dealt_labels: the labels of a database shuffled over all attempts, by a fixed hash.
-- grain: archive, competition, question_id, seed
with numbered as (
    select
        *,
        row_number() over (order by archive, competition, question_id, seed) as place,
        row_number() over (order by hash(seed, question_id, competition, archive), seed, archive) as dealt,
    from audited.labels
)
select
    here.archive,
    here.competition,
    here.question_id,
    here.seed,
    other.correct,
    here.recorded,
    here.references_id,
from numbered as here
inner join numbered as other on here.place = other.dealt
