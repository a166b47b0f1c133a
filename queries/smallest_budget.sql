-- What is the smallest budget that reaches an accuracy (percent) under each rule?
-- $accuracy = 50
with scores as (
    select
        archive,
        rule,
        budget,
        count(*) as replays,
        count(*) filter (correct) as correct_answers,
    from selections
    where
        repeat > 0
        and cap = (select value::integer from settings where key = 'primary_cap')
        and selector = (select value from settings where key = 'primary_selector')
    group by archive, rule, budget
),

reached as (
    select
        archive,
        rule,
        budget,
        100.0 * correct_answers / replays as accuracy,
        100 * correct_answers >= $accuracy::decimal(9, 4) * replays as is_reached,
    from scores
)

select
    archive,
    rule,
    min(budget) filter (is_reached) as smallest_budget,
    round(arg_min(accuracy, budget) filter (is_reached), 2) as accuracy_there,
    arg_max(budget, (accuracy, -budget)) as best_budget,
    round(max(accuracy), 2) as best_accuracy,
from reached
group by archive, rule
order by archive, rule
