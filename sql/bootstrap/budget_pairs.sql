-- budget_pairs: the totals of the advisory rule at one budget and of the strict rule at another,
--     side by side; a total is the cost with its prompts.
-- grain: archive, advisory_budget, strict_budget, problem_id
select
    advisory.archive,
    advisory.problem_id,
    advisory.budget as advisory_budget,
    strict.budget as strict_budget,
    advisory.replays,
    advisory.cost as advisory_cost,
    strict.cost as strict_cost,
    advisory.cost + case when unit.adds_prompts then advisory_prompts.prompt_tokens else 0 end as advisory_total,
    strict.cost + case when unit.adds_prompts then strict_prompts.prompt_tokens else 0 end as strict_total,
    advisory.correct as advisory_correct,
    strict.correct as strict_correct,
from rule_totals as advisory
inner join rule_totals as strict using (bank_id)
inner join problem_prompts as advisory_prompts
    on advisory.bank_id = advisory_prompts.bank_id
    and advisory.budget = advisory_prompts.budget
    and advisory.rule = advisory_prompts.rule
inner join problem_prompts as strict_prompts
    on strict.bank_id = strict_prompts.bank_id
    and strict.budget = strict_prompts.budget
    and strict.rule = strict_prompts.rule
cross join unit
where advisory.rule = 'advisory' and strict.rule = 'strict'
