-- file_attempts: how many of an archive's attempts a file holds; of some problems of the archive the same
--     share as of all.
-- grain: file, archive, sha256
select
    sources.file,
    archive,
    sources.sha256,
    sources.mapping,
    counted.attempts * sources.rows / sum(sources.rows) over (partition by archive) as attempts,
from sources
inner join (
    select
        archive,
        count(*) as attempts,
    from attempts
    group by archive
) as counted using (archive)
where sources.format <> 'checkpoints'
