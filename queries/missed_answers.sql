-- How often is a correct attempt in the pool and not chosen?
select
    archive,
    budget,
    rule,
    count(*) as replays,
    100.0 * avg(covered::integer) as coverage,
    100.0 * avg(correct::integer) as accuracy,
    sum((covered and not correct)::integer)::bigint as missed,
    100.0 * avg((covered and not correct)::integer) as percent_missed,
from results
where selector = (select value from settings where key = 'primary_selector')
group by archive, budget, rule
order by archive, budget, rule
