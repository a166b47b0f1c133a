-- labelled_problems: how many problems of a partly labelled archive come in, and how many of those
--     with an attempt without a label.
-- grain: archive
select
    archive,
    count(*) filter (labels < attempts) as without,
    count(*) as problems,
from (
    select
        incoming.archive,
        count(*) as attempts,
        count(incoming.correct) as labels,
    from incoming
    inner join ({% include "load/partly_labelled.sql" %}) as partly_labelled using (archive)
    group by incoming.archive, incoming.competition, incoming.question_id
)
group by archive
order by archive
