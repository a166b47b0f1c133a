-- What would this budget have bought under each rule, whatever budgets were replayed?
-- $budget =
-- An empty budget means the smallest that was replayed.
-- It is the sum of the changes up to it: random orders, the primary cap and the primary selector.
-- Money needs --unit money, or prices and completion tokens.
with asked as (
    select coalesce(nullif($budget, '')::double, min(budget / scale)) as budget
    from budgets
    cross join unit
),

answers as (
    select
        archive,
        rule,
        -- Every order abstains at budget 0: that is how many there are.
        sum(abstained_change) filter (answer_changes.budget = 0) as replays,
        sum(correct_change) as correct_answers,
        sum(abstained_change) as abstentions,
    from answer_changes
    inner join asked on answer_changes.budget <= asked.budget
    where selector = (select value from settings where key = 'primary_selector')
    group by archive, rule
),

costs as (
    select
        archive,
        rule,
        asked.budget,
        sum(covered_change) as covered,
        sum(launched_change) as launched,
        sum(cost_change + slope_change * (asked.budget - cost_changes.budget)) as cost,
    from cost_changes
    inner join asked on cost_changes.budget <= asked.budget
    group by archive, rule, asked.budget
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
    rule,
    costs.budget,
    100.0 * correct_answers / replays as accuracy,
    100.0 * covered / replays as coverage,
    100.0 * abstentions / replays as abstention,
    launched / replays as attempts,
    cost / replays as cost,
    cost / replays / costs.budget as cost_ratio,
    case unit
        when 'money' then cost / replays
        when 'completion' then (prompts.money + cost * output / 1e12) / replays
    end as money,
from answers
inner join costs using (archive, rule)
cross join unit
left join prompts using (archive)
left join prices using (archive)
order by archive, rule
