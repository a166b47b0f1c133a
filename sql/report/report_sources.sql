-- report_sources: the files behind the database as a report lists them: their names, and the columns
--     that they call otherwise, canonical name and source name.
-- grain: file, archive
select
    parse_filename(file) as file,
    archive,
    format,
    coalesce(format('{:,}', bytes), '') as bytes,
    coalesce(format('{:,}', "rows"), '') as "rows",
    coalesce(sha256, '') as sha256,
    array_to_string(
        [
            entry.key || ': ' || entry.value
            for entry in map_entries(coalesce(mapping, '{}')::json::map(varchar, varchar))
            if entry.key <> entry.value
        ],
        ', '
    ) as mapping,
    if(simulated, 'yes', 'no') as simulated,
from sources
order by archive, sources.file
