-- What does the next larger budget buy under each rule, and at what price?
with totals as (
    select
        archive,
        rule,
        budget,
        count(*) as replays,
        sum(correct::integer) as correct_answers,
        sum(cost) as cost,
    from results
    where selector = (select value from settings where key = 'primary_selector')
    group by archive, rule, budget
),

increases as (
    select
        *,
        lead(budget) over larger as next_budget,
        lead(correct_answers) over larger - correct_answers as gained,
        lead(cost) over larger - cost as extra_cost,
    from totals
    window larger as (partition by archive, rule order by budget)
)

select
    archive,
    rule,
    budget,
    next_budget,
    100.0 * correct_answers / replays as accuracy,
    100.0 * (correct_answers + gained) / replays as next_accuracy,
    100.0 * gained / replays as points_gained,
    extra_cost / replays as extra_cost,
    case when gained > 0 then extra_cost / gained end as cost_per_extra_correct,
from increases
where next_budget is not null
order by archive, rule, budget
