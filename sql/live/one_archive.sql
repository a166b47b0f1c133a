-- one_archive: the archive of the attempts that a controller records.
-- grain: archive_id
select
    1 as archive_id,
    'live' as archive,
