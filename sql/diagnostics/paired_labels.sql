-- paired_labels: whether the primary selector is correct under both rules from the same random order at the primary cap.
-- grain: walk_id, budget
select
    strict.walk_id,
    strict.bank_id,
    strict.budget,
    strict.is_correct as is_strict_correct,
    advisory.is_correct as is_advisory_correct,
from replay_selections as strict
inner join replay_selections as advisory
    on strict.walk_id = advisory.walk_id
    and strict.cap = advisory.cap
    and strict.budget = advisory.budget
    and strict.selector_id = advisory.selector_id
inner join caps on strict.cap = caps.cap
inner join used_selectors on strict.selector_id = used_selectors.selector_id
where
    strict.rule = 'strict'
    and advisory.rule = 'advisory'
    and caps.is_primary
    and used_selectors.is_primary
    and strict.repeat > 0
