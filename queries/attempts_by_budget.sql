-- How many attempts does each budget launch, return and leave to choose from?
select
    archive,
    budget,
    rule,
    count(*) as replays,
    avg(launched) as launched,
    avg(returned) as returned,
    avg(eligible) as eligible,
    100.0 * avg((returned < launched)::integer) as percent_with_a_cut,
    100.0 * avg((eligible = 0)::integer) as percent_empty,
from replays
where
    repeat > 0
    and cap = (select value::integer from settings where key = 'primary_cap')
group by archive, budget, rule
order by archive, budget, rule
