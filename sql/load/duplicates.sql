-- duplicates: an attempt that comes in more than once, with its second and its first place.
-- grain: archive, competition, question_id, seed
select
    archive,
    competition,
    question_id,
    seed,
    places[2].file as file,
    places[2].row as row,
    places[1].file as first_file,
    places[1].row as first_row
from (
    select
        archive,
        competition,
        question_id,
        seed,
        list({'file': file, 'row': row} order by file, row) as places
    from incoming
    group by archive, competition, question_id, seed
    having count(*) > 1
)
order by file, row
