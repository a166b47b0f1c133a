-- accepted_references: one normalized reference that some row of the problem accepts, in that archive.
-- grain: archive, competition, question_id, reference
select distinct
    archive,
    competition,
    question_id,
    unnest(accepted) as reference
from incoming
order by archive, competition, question_id, reference
