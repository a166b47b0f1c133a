-- paired_replays: what both rules launched, returned, paid for prompts and covered from the same order, side by side.
-- grain: walk_id, cap, budget
select
    strict.walk_id,
    strict.bank_id,
    strict.repeat,
    strict.cap,
    strict.budget,
    strict.launched as strict_launched,
    advisory.launched as advisory_launched,
    strict.returned as strict_returned,
    advisory.returned as advisory_returned,
    strict.eligible_count as strict_eligible,
    advisory.eligible_count as advisory_eligible,
    strict.prompt_cost as strict_prompt,
    advisory.prompt_cost as advisory_prompt,
    strict.is_covered as is_strict_covered,
    advisory.is_covered as is_advisory_covered,
from ledger as strict
inner join rules as strict_rule on strict.rule_id = strict_rule.rule_id and strict_rule.rule = 'strict'
inner join ledger as advisory
    on strict.walk_id = advisory.walk_id
    and strict.cap = advisory.cap
    and strict.budget = advisory.budget
inner join rules as advisory_rule on advisory.rule_id = advisory_rule.rule_id and advisory_rule.rule = 'advisory'
