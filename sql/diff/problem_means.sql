-- problem_means: what a rule answers and pays at a problem, in percent and per replay, under the
--     name by which the source calls the problem.
-- grain: archive, budget, rule, competition, problem
select
    rule_totals.archive,
    rule_totals.budget,
    rule_totals.rule,
    problems.competition,
    coalesce(problems.name, problems.question_id::varchar) as problem,
    100 * rule_totals.correct / rule_totals.replays as accuracy,
    rule_totals.cost / rule_totals.replays as cost,
from rule_totals
inner join problems on rule_totals.problem_id = problems.problem_id
