-- How do the bootstrap counts give the interval of the accuracy change in `main`, by hand?
with gains as (
    select
        archive,
        budget,
        problem_id,
        count(*) / 2 as replays,
        sum(if(rule = 'advisory', 1, -1) * correct::integer) as gained,
    from results
    where
        rule in ('strict', 'advisory')
        and selector = (select value from settings where key = 'primary_selector')
    group by archive, budget, problem_id
),

deltas as (
    select
        archive,
        budget,
        replicate,
        100 * sum(gained * draws) / nullif(sum(replays * draws), 0) as delta,
    from gains
    inner join problem_draws using (problem_id)
    group by archive, budget, replicate
)

select
    archive,
    budget,
    any_value(delta) filter (replicate = 0) as delta,
    quantile_cont(delta, 0.025) filter (replicate > 0) as delta_low,
    quantile_cont(delta, 0.975) filter (replicate > 0) as delta_high,
from deltas
group by archive, budget
order by archive, budget
