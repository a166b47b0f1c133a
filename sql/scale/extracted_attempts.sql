-- extracted_attempts: an extracted attempt with the number that its problem has in the run, for now, and its
--     place in its extract.
-- grain: file, place
select
    extracted.* exclude (file_row_number) replace (
        coalesce(met.question_id, extracted.question_id) as question_id
    ),
    extracted.file_row_number as place,
from extracted
left join met
    on extracted.competition = met.competition
    and extracted.problem = met.name
