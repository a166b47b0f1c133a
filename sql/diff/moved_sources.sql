-- moved_sources: a file that only one of two databases loaded; a file of the same name with other
--     content is one row. Where a file lies makes no difference.
-- grain: row
with gone as (
    select archive, file, sum(rows)::bigint as rows,
    from old_sources
    anti join new_sources using (archive, sha256, rows)
    group by archive, file
),
come as (
    select archive, file, sum(rows)::bigint as rows,
    from new_sources
    anti join old_sources using (archive, sha256, rows)
    group by archive, file
)
select
    concat_ws(', ', archive, file) as row,
    '' as "column",
    format('{:,} rows', gone.rows) as old,
    format('{:,} rows', come.rows) || case when gone.rows is null then '' else ', other content' end as new,
from gone
full join come using (archive, file)
order by row
