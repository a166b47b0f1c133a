-- What is the interval of a statistic of your own, here accuracy where there is an answer to pick?
-- Put any sums over replays in `totals`, and what you make of them in the last select.
with totals as (
    select
        archive,
        budget,
        rule,
        problem_id,
        sum(correct::integer) as correct_answers,
        count(*) filter (eligible > 0) as answered,
    from results
    where selector = (select value from settings where key = 'primary_selector')
    group by archive, budget, rule, problem_id
),

drawn as (
    select
        archive,
        budget,
        rule,
        replicate,
        100 * sum(correct_answers * draws) / nullif(sum(answered * draws), 0) as statistic,
    from totals
    inner join problem_draws using (problem_id)
    group by archive, budget, rule, replicate
)

-- Replicate 0 draws every problem once: it is the statistic itself.
select
    archive,
    budget,
    rule,
    any_value(statistic) filter (replicate = 0) as statistic,
    quantile_cont(statistic, 0.025) filter (replicate > 0) as statistic_low,
    quantile_cont(statistic, 0.975) filter (replicate > 0) as statistic_high,
from drawn
group by archive, budget, rule
order by archive, budget, rule
