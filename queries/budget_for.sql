-- Which budget reaches an accuracy (percent) first, and from which on is it kept, under each rule?
-- $accuracy = 60
-- Costs are realized ones; a budget that does not exist is empty.
with totals as (
    select
        archive,
        rule,
        budget,
        -- Every order abstains at budget 0: that is how many there are.
        sum(sum(abstained_change) filter (budget = 0)) over (partition by archive, rule) as replays,
        sum(sum(correct_change)) over (partition by archive, rule order by budget)
            as correct_answers,
    from answer_changes
    where selector = (select value from settings where key = 'primary_selector')
    group by archive, rule, budget
),

missed as (
    select
        *,
        100 * correct_answers >= $accuracy::decimal(9, 4) * replays as is_reached,
        max(budget) filter (100 * correct_answers < $accuracy::decimal(9, 4) * replays)
            over (partition by archive, rule) as last_missed,
    from totals
),

found as (
    select
        archive,
        rule,
        any_value(replays) as replays,
        -- A budget is at least 1, and greatest() would make one of none.
        min(if(budget < 1, 1, budget)) filter (is_reached) as first_budget,
        min(if(budget < 1, 1, budget)) filter (
            is_reached and budget > coalesce(last_missed, -1)
        ) as kept_budget,
    from missed
    group by archive, rule
)

select
    archive,
    rule,
    first_budget,
    round(
        sum(cost_change + slope_change * (first_budget - budget)) filter (budget <= first_budget)
            / replays,
        2
    ) as first_cost,
    round(
        sum(cost_change + slope_change * (first_budget - budget)) filter (budget <= first_budget)
            / replays / first_budget,
        2
    ) as first_cost_ratio,
    round(100.0 * sum(covered_change) filter (budget <= first_budget) / replays, 2)
        as first_coverage,
    kept_budget,
    round(
        sum(cost_change + slope_change * (kept_budget - budget)) filter (budget <= kept_budget)
            / replays,
        2
    ) as kept_cost,
    round(
        sum(cost_change + slope_change * (kept_budget - budget)) filter (budget <= kept_budget)
            / replays / kept_budget,
        2
    ) as kept_cost_ratio,
    round(100.0 * sum(covered_change) filter (budget <= kept_budget) / replays, 2)
        as kept_coverage,
from found
inner join cost_changes using (archive, rule)
group by archive, rule, replays, first_budget, kept_budget
order by archive, rule
