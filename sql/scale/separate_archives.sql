-- separate_archives: an attempt and the archive of its run: a file that repeats an archive's competition is a
--     run of its own.
-- grain: file, place
select
    file,
    place,
    if(run = 1, archive, archive || ' run ' || run) as run_archive,
from (
    select
        file,
        place,
        archive,
        dense_rank() over (partition by archive, competition order by file) as run,
    from incoming
)
