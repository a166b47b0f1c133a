-- sources: one file's share of one archive, that of checkpoints among them; an archive is simulated where the
--     file or its own name says so. Where a select joins several files without saying whose a row is, each of
--     them has null rows.
-- grain: file, archive, sha256
with shares as (
    select
        file,
        archive,
        count(*) as "rows",
    from incoming
    group by file, archive
    union all
    select
        file,
        archive,
        count(*) as "rows",
    from incoming_checkpoints
    where item is null
    group by file, archive
),
placed as (
    select
        coalesce(shares.file, incoming_files.file) as file,
        shares.archive,
        if(bool_or(shares.file is null), null, sum(shares."rows"))::bigint as "rows",
    from shares
    inner join incoming_files
        on shares.file = incoming_files.file
        or (shares.file is null and incoming_files.format <> 'checkpoints')
    group by coalesce(shares.file, incoming_files.file), shares.archive
)
select
    incoming_files.name as file,
    placed.archive,
    incoming_files.format,
    incoming_files.bytes,
    incoming_files.sha256,
    placed."rows",
    incoming_files.mapping,
    incoming_files.simulated or starts_with(placed.archive, 'simulated') as simulated,
from placed
inner join incoming_files
    on placed.file = incoming_files.file
order by incoming_files.name, placed.archive, incoming_files.sha256
