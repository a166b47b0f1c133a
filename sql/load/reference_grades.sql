-- reference_grades: labels made anew by comparison with references, for the archives whose labels
--     were made that way.
-- grain: archive, competition, question_id, seed
select
    labels.archive,
    labels.competition,
    labels.question_id,
    labels.seed,
    accepted_references.reference is not null as correct,
from labels
inner join (
    select distinct archive
    from ({% include "load/origins.sql" %})
    where name = 'correct' and origin = 'references'
) as graded using (archive)
inner join attempts
    on labels.archive = attempts.archive
    and labels.competition = attempts.competition
    and labels.question_id = attempts.question_id
    and labels.seed = attempts.seed
left join accepted_references
    on labels.archive = accepted_references.archive
    and labels.competition = accepted_references.competition
    and labels.question_id = accepted_references.question_id
    and labels.references_id = accepted_references.references_id
    and attempts.answer = accepted_references.reference
