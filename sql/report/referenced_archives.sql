-- referenced_archives: the archives with a problem for which some archive names accepted references.
-- grain: archive
select distinct
    attempts.archive,
from attempts
semi join accepted_references
    on attempts.competition = accepted_references.competition
    and attempts.question_id = accepted_references.question_id
order by attempts.archive
