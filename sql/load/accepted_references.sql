-- accepted_references: a normalized reference that some rows of the problem name in that archive;
--     rows with the same references share a references_id from 1.
-- grain: archive, competition, question_id, references_id, reference
select distinct
    archive,
    competition,
    question_id,
    references_id,
    unnest(accepted) as reference,
from incoming_references
order by archive, competition, question_id, references_id, reference
