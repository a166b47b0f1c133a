-- rule_totals: integer totals of a rule at one problem over its random orders at the primary cap,
--     for the primary selector; correct answers and coverage are null without labels.
-- grain: archive, budget, rule, problem_id
select
    costs.archive,
    costs.problem_id,
    costs.bank_id,
    costs.budget,
    costs.rule,
    costs.replays,
    scores.correct,
    costs.covered,
    costs.cost,
from problem_costs as costs
inner join primary_scores as scores
    on costs.bank_id = scores.bank_id
    and costs.budget = scores.budget
    and costs.rule = scores.rule
