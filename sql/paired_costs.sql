-- paired_costs: the weighted totals of both rules at the same budget, side by side.
-- grain: archive_id, budget, replicate
select
    replicate_costs.archive_id,
    replicate_costs.budget,
    replicate_costs.replicate,
    any_value(replicate_costs.replays) as replays,
    any_value(replicate_costs.covered) filter (rules.rule = 'strict') as strict_covered,
    any_value(replicate_costs.covered) filter (rules.rule = 'advisory') as advisory_covered,
    any_value(replicate_costs.completion_cost) filter (rules.rule = 'strict') as strict_cost,
    any_value(replicate_costs.completion_cost) filter (rules.rule = 'advisory') as advisory_cost,
    any_value(replicate_costs.prompt_cost) filter (rules.rule = 'strict') as strict_prompt,
    any_value(replicate_costs.prompt_cost) filter (rules.rule = 'advisory') as advisory_prompt,
from replicate_costs
inner join rules on replicate_costs.rule_id = rules.rule_id
group by replicate_costs.archive_id, replicate_costs.budget, replicate_costs.replicate
