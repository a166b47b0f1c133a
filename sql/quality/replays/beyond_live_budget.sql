-- beyond_live_budget: problems whose attempts were made under a smaller live budget, or one in
--     another unit, of all, by budget.
-- grain: archive, level
select
    archives.archive,
    budgets.budget / unit.scale as level,
    count(*) filter (limited.unit <> unit.unit or limited.budget < budgets.budget / unit.scale) as count,
    count(*) as total,
from (
    select
        archive,
        min(try_cast(json_extract_string(mapping, '$.live_budget') as double)) as budget,
        min(json_extract_string(mapping, '$.live_unit')) as unit,
    from sources
    where json_extract_string(mapping, '$.live_budget') is not null
    group by archive
) as limited
inner join archives on limited.archive = archives.archive
inner join banks on archives.archive_id = banks.archive_id
cross join budgets
cross join unit
group by archives.archive, budgets.budget, unit.scale
