-- separate_archives: a file's share of an archive in a competition, and the archive that it makes:
--     what repeats the competition is a run of its own.
-- grain: file, read_archive, competition
with numbered as (
    select
        file,
        read_archive,
        competition,
        row_number() over (partition by read_archive, competition order by file) as run,
    from incoming
    group by file, read_archive, competition
)
select
    file,
    read_archive,
    competition,
    if(run = 1, read_archive, read_archive || ' run ' || run) as archive,
from numbered
