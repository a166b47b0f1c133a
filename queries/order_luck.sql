-- How much does the order of the attempts matter: how far apart are the luckiest and the unluckiest?
with by_order as (
    select
        archive,
        budget,
        rule,
        repeat,
        count(*) as problems,
        count(*) filter (correct) as correct_answers,
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
    round(min(100.0 * correct_answers / problems) filter (repeat > 0), 2) as worst_order,
    round(
        100.0 * sum(correct_answers) filter (repeat > 0) / sum(problems) filter (repeat > 0), 2
    ) as mean_order,
    round(max(100.0 * correct_answers / problems) filter (repeat > 0), 2) as best_order,
    round(max(100.0 * correct_answers / problems) filter (repeat = 0), 2) as canonical_order,
from by_order
group by archive, budget, rule
order by archive, budget, rule
