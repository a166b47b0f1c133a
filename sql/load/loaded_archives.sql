-- loaded_archives: what came in of an archive.
-- grain: archive
select
    archive,
    sum(attempts)::bigint as attempts,
    count(*) as problems,
from (
    select
        archive,
        count(*) as attempts,
    from incoming
    group by archive, competition, question_id
)
group by archive
order by archive
