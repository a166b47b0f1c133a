-- cost_changes: by how much the totals over a problem's random orders change once the budget
--     reaches this one, at the primary cap; slope_change is cost per budget: the change at this
--     point.
-- grain: archive, competition, question_id, rule, budget
select
    archives.archive,
    problems.competition,
    problems.question_id,
    changed_costs.rule,
    changed_costs.budget,
    changed_costs.covered_change,
    changed_costs.launched_change,
    changed_costs.cost_change,
    changed_costs.slope_change,
from (
{% include 'evaluation/changed_costs.sql' %}

) as changed_costs
inner join banks on changed_costs.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
