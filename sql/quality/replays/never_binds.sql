-- never_binds: replays of random orders at the primary cap that ended before the budget was spent,
--     of all, by budget, whatever ended them: the bank or the cap; none where every bank holds one
--     attempt.
-- grain: archive, level
select
    archives.archive,
    budgets.budget / unit.scale as level,
    count(*) filter (ends.cost < budgets.budget and (select max(bank_size) from banks) > 1) as count,
    count(*) as total,
from (
    select
        walk_id,
        max(cumulative_cost) as cost,
    from walked
    where position <= (select cap from caps where is_primary)
    group by walk_id
) as ends
inner join walks on ends.walk_id = walks.walk_id
inner join banks on walks.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
cross join budgets
cross join unit
where walks.repeat > 0
group by archives.archive, budgets.budget, unit.scale
