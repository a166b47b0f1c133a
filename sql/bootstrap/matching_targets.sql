-- matching_targets: what the advisory rule pays and answers at one problem over its random orders: the costs that the strict rule is to match.
-- grain: archive, problem_id, budget
select
    problem_costs.archive,
    problem_costs.problem_id,
    problem_costs.budget,
    problem_costs.replays,
    problem_costs.cost,
    coalesce(problem_scores.correct, 0) as correct,
from problem_costs
inner join problem_scores
    on problem_costs.bank_id = problem_scores.bank_id
    and problem_costs.budget = problem_scores.budget
    and problem_costs.rule = problem_scores.rule
where problem_costs.rule = 'advisory' and problem_scores.is_primary
