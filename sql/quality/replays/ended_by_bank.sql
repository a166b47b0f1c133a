-- ended_by_bank: replays of random orders at the primary cap that ran out of attempts before the
--     budget was spent, of all, by budget; a bank below the cap is walked whole, so that its cost
--     is the same in every order. The banks of a live run end where its controller stopped.
-- grain: archive, level
select
    archives.archive,
    budgets.budget / unit.scale as level,
    orders * count(*) filter (
        costs.attempts < caps.cap
        and costs.cost < budgets.budget
        -- One run per problem always ends there.
        and (select max(bank_size) from banks) > 1
        and archives.archive not in (select archive from sources where json_exists(mapping, '$.live_budget'))
    ) as count,
    orders * count(*) as total,
from (
    select
        bank_id,
        count(*) as attempts,
        sum(cost) as cost,
    from candidates
    group by bank_id
) as costs
inner join banks on costs.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join caps on caps.is_primary
cross join budgets
cross join unit
cross join (select count(*) as orders from repeats where repeat > 0)
where orders > 0
group by archives.archive, budgets.budget, unit.scale, orders
