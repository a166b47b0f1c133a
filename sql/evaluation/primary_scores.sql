-- primary_scores: integer totals of an archive at one problem and of the primary selector over the
--     random orders at the primary cap; correct answers are null without labels.
-- grain: archive, competition, question_id, budget, rule
select
    costs.archive,
    costs.competition,
    costs.question_id,
    costs.problem_id,
    costs.bank_id,
    costs.budget,
    costs.rule,
    used_selectors.selector,
    {{ 'false' if answers is defined else 'true' }} as is_primary,
    costs.replays,
    costs.replays - coalesce(answers.answered, 0) as abstained,
    case when graded_archives.is_graded then coalesce(answers.correct, 0) end as correct,
    case when graded_archives.is_graded then coalesce(answers.repaired_correct, 0) end as repaired_correct,
from problem_costs as costs
inner join graded_archives on costs.archive = graded_archives.archive
inner join used_selectors on {{ 'not ' if answers is defined }}used_selectors.is_primary
left join {{ answers | default('primary_answers') }} as answers
    on used_selectors.selector_id = answers.selector_id
    and costs.bank_id = answers.bank_id
    and costs.budget = answers.budget
    and costs.rule = answers.rule
