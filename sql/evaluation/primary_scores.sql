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
    true as is_primary,
    costs.replays,
    costs.replays - costs.answered as abstained,
    case when graded_archives.is_graded then costs.correct end as correct,
    case when graded_archives.is_graded then costs.repaired_correct end as repaired_correct,
from problem_costs as costs
inner join graded_archives on costs.archive = graded_archives.archive
inner join used_selectors on used_selectors.is_primary
