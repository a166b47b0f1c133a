-- dealt_attempts: the extracted attempts of the problems being worked on, under the names that the
--     archives and the numbers that the problems have in the whole run.
-- grain: file, place
select extracted.* replace (places.archive as archive, places.question_id as question_id),
from extracted
inner join places
    on extracted.file = places.file
    and extracted.archive = places.read_archive
    and extracted.competition = places.competition
    and extracted.question_id = places.read_id
