-- unlabelled_problems: a problem of a partly labelled archive of which some attempt that comes in
--     has no label.
-- grain: archive, competition, question_id
select distinct
    incoming.archive,
    incoming.competition,
    incoming.question_id,
from incoming
inner join ({% include "load/partly_labelled.sql" %}) as partly_labelled using (archive)
where incoming.correct is null
