-- How many attempts does each budget launch, return and leave to choose from?
select
    archive,
    budget,
    rule,
    count(*) as replays,
    round(sum(launched) / count(*), 2) as launched,
    round(sum(returned) / count(*), 2) as returned,
    round(sum(eligible) / count(*), 2) as eligible,
    round(100.0 * count(*) filter (returned < launched) / count(*), 2) as percent_with_a_cut,
    round(100.0 * count(*) filter (eligible = 0) / count(*), 2) as percent_empty,
from replays
where
    repeat > 0
    and cap = (select value::integer from settings where key = 'primary_cap')
group by archive, budget, rule
order by archive, budget, rule
