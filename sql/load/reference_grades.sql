-- reference_grades: labels made anew by comparison with references, for the archives whose labels
--     were made that way.
-- grain: archive, competition, question_id, seed
select
    label_references.archive,
    label_references.competition,
    label_references.question_id,
    label_references.seed,
    label_references.reference is not null as correct,
from ({% include "load/label_references.sql" %}) as label_references
inner join (
    select distinct archive
    from ({% include "load/origins.sql" %})
    where name = 'correct' and origin = 'references'
) as graded using (archive)
