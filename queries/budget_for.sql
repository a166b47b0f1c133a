-- Which budget reaches an accuracy (percent), loses few points, or costs so much money, by rule?
-- $accuracy = 60
-- $lose =
-- $money =
-- With $lose, the smallest budget that loses at most so many points against no budget at all.
-- With $money, what the largest budget buys that costs no more on average; the best comes first.
-- Else the smallest budget that reaches $accuracy and the one that keeps it; cheapest first.
-- Money needs --unit money, or prices and completion tokens.
with steps_up as (
    select
        archive,
        rule,
        budget,
        -- Every order abstains at budget 0: that is how many there are.
        sum(sum(abstained_change) filter (budget = 0)) over (partition by archive, rule) as replays,
        100 * sum(sum(correct_change)) over (partition by archive, rule order by budget)
            >= if(
                $lose = '',
                $accuracy::decimal(9, 4) * replays,
                100 * sum(sum(correct_change)) over (partition by archive, rule)
                    - nullif($lose, '')::decimal(9, 4) * replays
            ) as is_reached,
    from answer_changes
    where selector = (select value from settings where key = 'primary_selector')
    group by archive, rule, budget
),

reached as (
    select
        archive,
        rule,
        any_value(replays) as replays,
        -- A budget is at least one of what is counted.
        min(if(budget = 0, 1 / scale, budget)) filter (is_reached) as budget,
        min(if(budget = 0, 1 / scale, budget)) filter (is_reached and is_kept) as kept_budget,
    from (
        select
            *,
            bool_and(is_reached) over (
                partition by archive, rule order by budget desc
            ) as is_kept,
        from steps_up
    )
    cross join unit
    group by archive, rule
),

-- What all orders pay in money: completion tokens at their price, and prompts once launched.
money_changes as (
    select
        archive,
        rule,
        budget,
        cost_change * if(unit = 'money', 1, output / 1e12) as change,
        slope_change * if(unit = 'money', 1, output / 1e12) as slope_change,
    from cost_changes
    cross join unit
    left join prices using (archive)
    where unit = 'money' or (unit = 'completion' and output is not null)
    union all
    select
        archive,
        rule,
        cumulative_cost - cost + 1 as budget,
        (
            input * (attempts.prompt_tokens - coalesce(cached_tokens, 0))
            + cached_input * coalesce(cached_tokens, 0)
        ) / 1e12 as change,
        0 as slope_change,
    from prefixes
    inner join attempts using (archive, competition, question_id, seed)
    inner join prices using (archive)
    inner join (select distinct archive, rule from cost_changes) as rules using (archive)
    cross join unit
    where
        unit = 'completion'
        and repeat > 0
        and position between 1 and (select value::integer from settings where key = 'primary_cap')
),

paid as (
    select
        archive,
        rule,
        budget,
        sum(sum(change - slope_change * budget)) over so_far
            + budget * sum(sum(slope_change)) over so_far as money,
        sum(sum(slope_change)) over so_far as slope,
        lead(budget) over so_far as next_budget,
    from money_changes
    group by archive, rule, budget
    window so_far as (partition by archive, rule order by budget)
),

afforded as (
    select
        archive,
        rule,
        max(
            least(
                paid.budget + if(
                    slope > 0,
                    floor((nullif($money, '')::double * replays - money) / slope * scale + 1e-6)
                        / scale,
                    0
                ),
                coalesce(next_budget - 1 / scale, 'infinity')
            )
        ) as budget,
    from paid
    inner join reached using (archive, rule)
    cross join unit
    where money <= nullif($money, '')::double * replays * (1 + 1e-12) and paid.budget > 0
    group by archive, rule
),

found as (
    select
        reached.archive,
        reached.rule,
        reached.replays,
        case
            when $money = '' then reached.budget
            when exists (from money_changes) then afforded.budget
            else error('money is not known: replay with --unit money, or with --prices')
        end as budget,
        if($money = '', reached.kept_budget, null) as kept_budget,
    from reached
    left join afforded using (archive, rule)
),

costs as (
    select
        archive,
        rule,
        sum(cost_change + slope_change * (found.budget - cost_changes.budget))
            filter (cost_changes.budget <= found.budget) / any_value(replays) as cost,
        sum(cost_change + slope_change * (kept_budget - cost_changes.budget))
            filter (cost_changes.budget <= kept_budget) / any_value(replays) as kept_cost,
    from found
    inner join cost_changes using (archive, rule)
    group by archive, rule
),

spent as (
    select
        archive,
        rule,
        sum(change + slope_change * (found.budget - money_changes.budget))
            / any_value(replays) as money,
    from found
    inner join money_changes using (archive, rule)
    where money_changes.budget <= found.budget
    group by archive, rule
),

problem_answers as (
    select
        archive,
        rule,
        problem_id,
        sum(correct_change) as correct_answers,
        sum(abstained_change) filter (answer_changes.budget = 0) as replays,
    from answer_changes
    inner join found using (archive, rule)
    inner join problems using (competition, question_id)
    where
        answer_changes.budget <= found.budget
        and selector = (select value from settings where key = 'primary_selector')
    group by archive, rule, problem_id
),

accuracies as (
    select
        archive,
        rule,
        replicate,
        100 * sum(counts[problem_id - first_problem + 1] * correct_answers)
            / nullif(sum(counts[problem_id - first_problem + 1] * replays), 0) as accuracy,
    from problem_answers
    inner join bootstrap_counts
        on problem_id between first_problem and first_problem + len(counts) - 1
    group by archive, rule, replicate
)

select
    archive,
    rule,
    any_value(found.budget) as budget,
    any_value(costs.cost) as cost,
    any_value(spent.money) as money,
    -- Replicate 0 is the problems as they are.
    any_value(accuracy) filter (replicate = 0) as accuracy,
    quantile_cont(accuracy, 0.025) filter (replicate > 0) as accuracy_low,
    quantile_cont(accuracy, 0.975) filter (replicate > 0) as accuracy_high,
    any_value(found.kept_budget) as kept_budget,
    any_value(costs.kept_cost) as kept_cost,
from found
inner join costs using (archive, rule)
left join spent using (archive, rule)
left join accuracies using (archive, rule)
group by archive, rule
order by
    -- Sums of floats that should be equal differ in their last digits.
    round(
        case when $money = '' then coalesce(any_value(spent.money), any_value(costs.cost))
            else -any_value(accuracy) filter (replicate = 0) end, 9
    ) nulls last,
    archive,
    rule
