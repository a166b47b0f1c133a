-- origins: where a file's column comes from, as its mapping says, for every archive.
-- grain: archive, name, origin
select distinct
    sources.archive,
    mapped.key as name,
    json_extract_string(mapped.value, '$') as origin,
from sources
cross join json_each(sources.mapping) as mapped
order by sources.archive, mapped.key, origin
