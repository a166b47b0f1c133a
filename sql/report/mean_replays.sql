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
        avg(cost) as cost,
        avg(prompt_tokens) as prompt_tokens,
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
    avg(cost) as cost,
    avg(cost) / budget as cost_ratio,
    avg(prompt_tokens) as prompt_tokens,
from per_problem
group by archive, budget, rule
order by archive, budget, rule desc
