-- spending_totals: what a rule costs and answers at one problem under a budget, and how many more
--     of its random orders the same walks would answer correctly without one; null without labels.
-- grain: archive, budget, rule, problem_id
select
    rule_totals.archive,
    rule_totals.problem_id,
    rule_totals.budget,
    rule_totals.rule,
    rule_totals.replays,
    rule_totals.correct,
    rule_totals.cost,
    coalesce(answers.correct, 0) - rule_totals.correct as missed,
    walks.cost as whole_cost,
from rule_totals
inner join (
    select archive, problem_id, sum(orders * whole_cost)::hugeint as cost,
    from matching_walks
    group by archive, problem_id
) as walks
    on rule_totals.archive = walks.archive
    and rule_totals.problem_id = walks.problem_id
left join (
    select archive, problem_id, sum(correct_change)::bigint as correct,
    from matching_answers
    group by archive, problem_id
) as answers
    on rule_totals.archive = answers.archive
    and rule_totals.problem_id = answers.problem_id
