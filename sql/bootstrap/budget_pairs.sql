-- budget_pairs: the totals of the advisory rule at one budget and of the strict rule at another, side by side; a total is the cost with its prompts.
-- grain: archive, advisory_budget, strict_budget, problem_id
select
    advisory.archive,
    advisory.problem_id,
    advisory.budget as advisory_budget,
    strict.budget as strict_budget,
    advisory.replays,
    advisory.cost as advisory_cost,
    strict.cost as strict_cost,
    advisory.cost + advisory.prompt_tokens as advisory_total,
    strict.cost + strict.prompt_tokens as strict_total,
    advisory.correct as advisory_correct,
    strict.correct as strict_correct,
from rule_totals as advisory
inner join rule_totals as strict using (bank_id)
where advisory.rule = 'advisory' and strict.rule = 'strict'
