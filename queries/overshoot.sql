-- How far beyond the budget does letting the last attempt finish go, as cost over budget?
select
    archive,
    budget,
    count(*) as replays,
    count(*) filter (cost > budget) as over_budget,
    round(sum(cost) / sum(budget), 2) as mean_ratio,
    round(quantile_cont(cost / budget, 0.5), 2) as median_ratio,
    round(quantile_cont(cost / budget, 0.9), 2) as p90_ratio,
    round(quantile_cont(cost / budget, 0.95), 2) as p95_ratio,
    round(quantile_cont(cost / budget, 0.99), 2) as p99_ratio,
    round(max(cost / budget), 2) as largest_ratio,
from replays
where
    repeat > 0
    and cap = (select value::integer from settings where key = 'primary_cap')
    and rule = 'advisory'
group by archive, budget
order by archive, budget
