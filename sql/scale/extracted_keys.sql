-- extracted_keys: the columns of an extracted attempt that numbers and refusals depend on; read_id is the
--     number that its problem has in its extract.
-- grain: file, place
select
    file,
    place,
    row,
    archive,
    competition,
    question_id,
    question_id as read_id,
    problem_name,
    seed,
    finish_reason,
    if(archive_answer is null, null, '') as archive_answer,
    eligible,
    correct,
from extracted
