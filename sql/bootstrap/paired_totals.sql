-- paired_totals: the totals of both rules at the same budget, side by side: rule_totals with a
--     column for each rule.
-- grain: archive, budget, problem_id
select
    strict.archive,
    strict.problem_id,
    strict.bank_id,
    strict.budget,
    strict.replays,
    strict.correct as strict_correct,
    advisory.correct as advisory_correct,
    strict.covered as strict_covered,
    advisory.covered as advisory_covered,
    strict.cost as strict_cost,
    advisory.cost as advisory_cost,
from rule_totals as strict
inner join rule_totals as advisory using (bank_id, budget)
where strict.rule = 'strict' and advisory.rule = 'advisory'
