-- banks_uneven: problems with fewer attempts than the archive's largest bank, of all; a live budget
--     ends banks at different lengths.
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
    where archive not in (select archive from sources where json_extract_string(mapping, '$.live_budget') is not null)
    group by archive, competition, question_id
)
group by archive
