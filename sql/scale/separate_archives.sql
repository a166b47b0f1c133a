-- separate_archives: a file's share of an archive in a competition, and the archive that it makes:
--     a file that repeats the competition is a run of its own.
-- grain: file, archive, competition
select
    file,
    archive,
    competition,
    if(run = 1, archive, archive || ' run ' || run) as run_archive,
from (
    select
        file,
        archive,
        competition,
        row_number() over (partition by archive, competition order by file) as run,
    from incoming
    group by file, archive, competition
)
