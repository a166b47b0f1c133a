-- sources: one file's share of one archive; an archive is simulated where the file or its own name says so.
-- grain: file, archive, sha256
select
    incoming_files.name as file,
    incoming.archive,
    incoming_files.format,
    incoming_files.bytes,
    incoming_files.sha256,
    count(*) as rows,
    incoming_files.mapping,
    incoming_files.simulated or starts_with(incoming.archive, 'simulated') as simulated
from incoming
inner join incoming_files
    on incoming.file = incoming_files.file
group by all
order by incoming_files.name, incoming.archive, incoming_files.sha256
