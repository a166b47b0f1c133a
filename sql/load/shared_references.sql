-- shared_references: the references that rows without any accept (references_id 0): all that their
--     archive names for the problem, or, where it names none, all that any archive names.
-- grain: archive, competition, question_id, references_id, reference
with unreferenced as (
    select distinct
        archive,
        competition,
        question_id,
    from labels
    where references_id = 0
),
named as (
    select distinct
        archive,
        competition,
        question_id,
    from accepted_references
    where references_id > 0
)
select distinct
    unreferenced.archive,
    unreferenced.competition,
    unreferenced.question_id,
    0 as references_id,
    accepted_references.reference,
from unreferenced
left join named
    on unreferenced.archive = named.archive
    and unreferenced.competition = named.competition
    and unreferenced.question_id = named.question_id
inner join accepted_references
    on unreferenced.competition = accepted_references.competition
    and unreferenced.question_id = accepted_references.question_id
    and coalesce(named.archive, accepted_references.archive) = accepted_references.archive
where accepted_references.references_id > 0
order by unreferenced.archive, unreferenced.competition, unreferenced.question_id, accepted_references.reference
