-- mean_replays: what each point of a curve cost and held on average, at the primary cap over random orders.
-- grain: archive, budget, rule
with per_problem as (
    select
        archive,
        budget,
        rule,
        competition,
        question_id,
        avg(launched) as launched,
        avg(returned) as returned,
        avg(eligible) as eligible,
        avg(completion_cost) as completion_cost,
        avg(prompt_cost) as prompt_cost,
    from replays
    where repeat > 0 and cap = $cap
    group by all
)
select
    archive,
    budget,
    rule,
    count(*) as problems,
    avg(launched) as launched,
    avg(returned) as returned,
    avg(eligible) as eligible,
    avg(completion_cost) as completion_cost,
    avg(completion_cost) / budget as cost_ratio,
    avg(prompt_cost) as prompt_cost,
from per_problem
group by archive, budget, rule
order by archive, budget, rule desc
