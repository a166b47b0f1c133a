-- labels: the label of an attempt, the one that the source recorded, and which references its own
--     row names (0: none).
-- grain: archive, competition, question_id, seed
select
    incoming.archive,
    incoming.competition,
    incoming.question_id,
    incoming.seed,
    incoming.correct,
    incoming.recorded,
    coalesce(incoming_references.references_id, 0) as references_id,
from incoming
left join incoming_references
    on incoming.archive = incoming_references.archive
    and incoming.competition = incoming_references.competition
    and incoming.question_id = incoming_references.question_id
    and incoming.accepted = incoming_references.accepted
order by incoming.archive, incoming.competition, incoming.question_id, incoming.seed
