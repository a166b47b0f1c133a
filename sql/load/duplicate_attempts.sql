-- duplicate_attempts: an attempt that comes in more than once, with its second and its first place.
-- grain: archive, competition, question_id, seed
with repeated as (
    select
        archive,
        competition,
        question_id,
        seed,
    from incoming
    group by archive, competition, question_id, seed
    having count(*) > 1
),
placed as (
    select
        incoming.archive,
        incoming.competition,
        incoming.question_id,
        incoming.seed,
        list({'file': incoming.file, 'row': incoming.row} order by incoming.file, incoming.row) as places,
    from incoming
    inner join repeated using (archive, competition, question_id, seed)
    group by all
)
select
    archive,
    competition,
    question_id,
    seed,
    places[2].file as file,
    places[2].row as row,
    places[1].file as first_file,
    places[1].row as first_row,
from placed
order by file, row
