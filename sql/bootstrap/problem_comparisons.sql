-- problem_comparisons: what a rule costs and answers in two archives at a problem that both have,
--     and how they differ; correct answers are null without labels.
-- grain: archive, other, rule, budget, problem_id
select
    here.archive,
    there.archive as other,
    here.problem_id,
    here.rule,
    here.budget,
    here.replays,
    here.correct,
    there.correct as other_correct,
    here.correct - there.correct as more_correct,
    here.cost,
    there.cost as other_cost,
    here.cost - there.cost as more_cost,
from rule_totals as here
inner join rule_totals as there
    on here.problem_id = there.problem_id
    and here.rule = there.rule
    and here.budget = there.budget
    and here.archive < there.archive
where here.rule in ('strict', 'advisory')
