-- What would this budget have bought under each rule, whatever budgets were replayed?
-- $budget = 6000
-- It is the sum of the changes up to it: random orders, the primary cap and the primary selector.
with asked as (
    select $budget::double as budget
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
from answers
inner join costs using (archive, rule)
order by archive, rule
