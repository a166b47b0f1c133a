-- Which budget reaches an accuracy (percent) first, and from which on is it kept, under each rule?
-- $accuracy = 60
-- The cheapest comes first; costs are realized ones; a budget that does not exist is empty.
with reached as (
    select
        archive,
        rule,
        budget,
        -- Every order abstains at budget 0: that is how many there are.
        sum(sum(abstained_change) filter (budget = 0)) over (partition by archive, rule) as replays,
        100 * sum(sum(correct_change)) over (partition by archive, rule order by budget)
            >= $accuracy::decimal(9, 4) * replays as is_reached,
    from answer_changes
    where selector = (select value from settings where key = 'primary_selector')
    group by archive, rule, budget
),

found as (
    select
        archive,
        rule,
        any_value(replays) as replays,
        -- A budget is at least 1, and greatest() would make one of none.
        min(if(budget < 1, 1, budget)) filter (is_reached) as budget,
        min(if(budget < 1, 1, budget)) filter (is_reached and is_kept) as kept_budget,
    from (
        select
            *,
            bool_and(is_reached) over (
                partition by archive, rule order by budget desc
            ) as is_kept,
        from reached
    )
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
            / sum(counts[problem_id - first_problem + 1] * replays) as accuracy,
    from problem_answers
    inner join bootstrap_counts
        on problem_id between first_problem and first_problem + len(counts) - 1
    group by archive, rule, replicate
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
)

select
    archive,
    rule,
    any_value(found.budget) as budget,
    any_value(costs.cost) as cost,
    -- Replicate 0 is the problems as they are.
    any_value(accuracy) filter (replicate = 0) as accuracy,
    quantile_cont(accuracy, 0.025) filter (replicate > 0) as accuracy_low,
    quantile_cont(accuracy, 0.975) filter (replicate > 0) as accuracy_high,
    any_value(found.kept_budget) as kept_budget,
    any_value(costs.kept_cost) as kept_cost,
from found
inner join costs using (archive, rule)
left join accuracies using (archive, rule)
group by archive, rule
order by cost nulls last, archive, rule
