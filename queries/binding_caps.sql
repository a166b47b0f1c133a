-- How often is it the cap on attempts, and not the budget, that ends a replay?
select
    replays.archive,
    caps.cap,
    replays.budget,
    count(*) as replays,
    count(*) filter (replays.launched = caps.cap and replays.cost < replays.budget)
        as ended_by_cap,
    count(*) filter (replays.launched < caps.cap and replays.cost < replays.budget)
        as ended_by_bank,
    avg(replays.cost) as cost,
    100.0 * sum(replays.cost) / sum(replays.budget) as percent_of_budget,
from caps
inner join replays on caps.cap = replays.cap
where
    replays.repeat > 0
    and replays.rule = 'strict'
group by replays.archive, caps.cap, replays.budget
order by replays.archive, caps.cap, replays.budget
