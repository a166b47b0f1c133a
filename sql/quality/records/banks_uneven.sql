-- banks_uneven: problems with fewer attempts than the archive's largest bank, of all.
-- grain: archive
select
    archive,
    count(*) filter (attempts < largest) as count,
    count(*) as total,
from (
    select
        archive,
        count(*) as attempts,
        max(count(*)) over (partition by archive) as largest,
    from attempts
    group by archive, competition, question_id
)
group by archive
