-- paired_picks: what a selector returns under both rules from the same random order at the primary cap.
-- grain: selector_id, walk_id, budget
select
    strict.selector_id,
    strict.walk_id,
    strict.bank_id,
    strict.repeat,
    strict.budget,
    strict.slot as strict_slot,
    advisory.slot as advisory_slot,
    strict.is_correct as is_strict_correct,
    advisory.is_correct as is_advisory_correct,
    strict.is_repaired_correct as is_strict_repaired,
    advisory.is_repaired_correct as is_advisory_repaired,
from picks as strict
inner join rules as strict_rule on strict.rule_id = strict_rule.rule_id and strict_rule.rule = 'strict'
inner join caps on strict.cap = caps.cap and caps.is_primary
inner join picks as advisory
    on strict.selector_id = advisory.selector_id
    and strict.walk_id = advisory.walk_id
    and strict.cap = advisory.cap
    and strict.budget = advisory.budget
inner join rules as advisory_rule on advisory.rule_id = advisory_rule.rule_id and advisory_rule.rule = 'advisory'
where strict.repeat > 0
