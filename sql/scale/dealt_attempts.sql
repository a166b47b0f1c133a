-- dealt_attempts: the extracted attempts of the problems being worked on, under the numbers that the problems have in the whole run.
-- grain: file, row
select extracted.* replace (places.question_id as question_id),
from extracted
inner join places
    on extracted.file = places.file
    and extracted.archive = places.archive
    and extracted.competition = places.competition
    and extracted.question_id = places.read_id
