-- incoming_references: the references that rows of a problem name in an archive; the same ones in
--     another order have the same references_id, from 1.
-- grain: archive, competition, question_id, accepted
select
    archive,
    competition,
    question_id,
    accepted,
    (dense_rank() over (
        partition by archive, competition, question_id
        order by list_sort(list_distinct(accepted))
    ))::integer as references_id,
from (
    select distinct
        archive,
        competition,
        question_id,
        accepted,
    from incoming
    where len(accepted) > 0
)
