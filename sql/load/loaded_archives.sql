-- loaded_archives: what came in of an archive.
-- grain: archive
select
    archive,
    count(*) as attempts,
    count(distinct (competition, question_id)) as problems,
    count(*) filter (has_text) as texts,
from incoming
group by archive
order by archive
