-- asked_archives: an archive, whether it was derived from another, and how many asked checkpoints it has.
-- grain: archive
select
    archive,
    archive in (select archive from sources where format = 'derived') as is_derived,
    coalesce(any_value(asked.checkpoints), 0) as checkpoints,
from attempts
left join (
    select
        archive,
        count(*) as checkpoints,
    from checkpoints
    where kind = 'asked'
    group by archive
) as asked using (archive)
group by archive
order by archive
