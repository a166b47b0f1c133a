-- How much does the order of the attempts matter: how far apart are the luckiest and the unluckiest?
with by_order as (
    select
        archive,
        budget,
        rule,
        repeat,
        100.0 * avg(correct::integer) as accuracy,
    from selections
    where
        cap = (select value::integer from settings where key = 'primary_cap')
        and selector = (select value from settings where key = 'primary_selector')
    group by archive, budget, rule, repeat
)

select
    archive,
    budget,
    rule,
    count(*) filter (repeat > 0) as random_orders,
    min(accuracy) filter (repeat > 0) as worst_order,
    avg(accuracy) filter (repeat > 0) as mean_order,
    max(accuracy) filter (repeat > 0) as best_order,
    max(accuracy) filter (repeat = 0) as canonical_order,
from by_order
group by archive, budget, rule
order by archive, budget, rule
