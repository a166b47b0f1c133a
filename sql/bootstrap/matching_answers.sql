-- matching_answers: the strict changes of the primary selector's correct answers; place numbers the problems of the archive from 0.
-- grain: archive, place, budget
select
    archives.archive,
    places.place,
    primary_changes.budget,
    coalesce(primary_changes.correct_change, 0) as correct_change,
from primary_changes
inner join (
    select
        bank_id,
        archive_id,
        row_number() over (partition by archive_id order by problem_id) - 1 as place,
    from banks
) as places
    on primary_changes.bank_id = places.bank_id
inner join archives on places.archive_id = archives.archive_id
where primary_changes.rule = 'strict'
