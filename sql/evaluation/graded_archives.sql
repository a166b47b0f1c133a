-- graded_archives: the replayed archives, and whether every attempt of theirs has a label; numbers
--     that need one are null elsewhere.
-- grain: archive_id
-- kept: table
select
    archives.archive_id,
    archives.archive,
    bool_and(grades.correct is not null) as is_graded,
from archives
inner join grades on archives.archive = grades.archive
group by archives.archive_id, archives.archive
