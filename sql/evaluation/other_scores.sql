-- other_scores: primary_scores of the other selectors.
-- grain: archive, competition, question_id, budget, rule, selector
select
    costs.archive,
    costs.competition,
    costs.question_id,
    costs.problem_id,
    costs.bank_id,
    costs.budget,
    costs.rule,
    used_selectors.selector,
    false as is_primary,
    costs.replays,
    costs.replays - coalesce(answers.answered, 0) as abstained,
    case when graded_archives.is_graded then coalesce(answers.correct, 0) end as correct,
    case when graded_archives.is_graded then coalesce(answers.repaired_correct, 0) end as repaired_correct,
from problem_costs as costs
inner join graded_archives on costs.archive = graded_archives.archive
inner join used_selectors on not used_selectors.is_primary
left join other_answers as answers
    on used_selectors.selector_id = answers.selector_id
    and costs.bank_id = answers.bank_id
    and costs.budget = answers.budget
    and costs.rule = answers.rule
