-- checkpoint_sources: a file of checkpoints and its share of one archive.
-- grain: file, archive
select
    $name as file,
    archive,
    'checkpoints' as format,
    $bytes as bytes,
    $sha256 as sha256,
    count(*) as "rows",
    '{}' as mapping,
    archive in (select archive from sources where simulated) as simulated,
from incoming_checkpoints
where file = $file
group by archive
order by archive
