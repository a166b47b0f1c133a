-- What does a correct answer cost under each rule (also known as cost-of-pass)?
-- Money needs --unit money, or prices and completion tokens.
with asked as (
    select budget / scale as budget
    from budgets, unit
),

-- What the prompts of all launched attempts cost, at each budget: money needs prices.
prompts as (
    select
        archive,
        asked.budget,
        sum(
            input * (attempts.prompt_tokens - coalesce(cached_tokens, 0))
            + cached_input * coalesce(cached_tokens, 0)
        ) / 1e12 as money,
    from prefixes
    inner join attempts using (archive, competition, question_id, seed)
    inner join prices using (archive)
    inner join asked on cumulative_cost - cost < asked.budget
    where
        repeat > 0
        and position between 1 and (select value::integer from settings where key = 'primary_cap')
    group by archive, asked.budget
)

select
    archive,
    budget,
    rule,
    count(*) as replays,
    sum(correct::integer)::bigint as correct_answers,
    100.0 * avg(correct::integer) as accuracy,
    avg(results.cost) as cost,
    sum(results.cost) / nullif(sum(correct::integer), 0) as cost_per_correct,
    sum(results.prompt_tokens) / nullif(sum(correct::integer), 0) as prompt_tokens_per_correct,
    case any_value(unit)
        when 'money' then sum(results.cost)
        when 'completion'
        then any_value(prompts.money) + sum(results.cost) * any_value(output) / 1e12
    end / nullif(sum(correct::integer), 0) as money_per_correct,
from results
cross join unit
left join prompts using (archive, budget)
left join prices using (archive)
where selector = (select value from settings where key = 'primary_selector')
group by archive, budget, rule
order by archive, budget, rule
