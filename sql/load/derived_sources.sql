-- derived_sources: a file's share of an archive from which another is derived, under the name of that.
-- grain: file, archive
select sources.* replace (
    derived as archive,
    'derived' as format,
    json_merge_patch(mapping, json_object('derived_from', archive, 'exit', $exit))::varchar as mapping
),
from sources
inner join derived_archives using (archive)
where sources.format not in ('checkpoints', 'derived')
order by all
