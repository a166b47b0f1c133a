-- How far beyond the budget does letting the last attempt finish go, as cost over budget?
select
    archive,
    budget,
    count(*) as replays,
    count(*) filter (cost > budget) as over_budget,
    sum(cost) / sum(budget) as mean_ratio,
    quantile_cont(cost / budget, 0.5) as median_ratio,
    quantile_cont(cost / budget, 0.9) as p90_ratio,
    quantile_cont(cost / budget, 0.95) as p95_ratio,
    quantile_cont(cost / budget, 0.99) as p99_ratio,
    max(cost / budget) as largest_ratio,
from replays
where
    repeat > 0
    and cap = (select value::integer from settings where key = 'primary_cap')
    and rule = 'advisory'
group by archive, budget
order by archive, budget
