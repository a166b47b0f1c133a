-- card_sources: a file behind a budget card, with its hash and the competitions of the archive.
-- grain: archive, file
select
    sources.archive,
    parse_filename(sources.file) as file,
    sources.format,
    sources.rows,
    sources.bytes,
    sources.sha256,
    sources.simulated,
    played.competitions,
from sources
inner join (
    select
        archive,
        list(distinct competition order by competition) as competitions,
    from replayed_problems
    group by archive
) as played using (archive)
order by sources.archive, sources.file
