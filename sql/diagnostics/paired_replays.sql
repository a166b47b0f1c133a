-- paired_replays: what both rules launched, returned, paid for prompts and covered from the same
--     order, side by side.
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
    coalesce(strict_pool.eligible_count, 0) as strict_eligible,
    coalesce(advisory_pool.eligible_count, 0) as advisory_eligible,
    strict.prompt_tokens as strict_prompt,
    advisory.prompt_tokens as advisory_prompt,
    strict.is_covered as is_strict_covered,
    advisory.is_covered as is_advisory_covered,
from ledger as strict
inner join ledger as advisory
    on strict.walk_id = advisory.walk_id
    and strict.cap = advisory.cap
    and strict.budget = advisory.budget
left join eligible_counts as strict_pool
    on strict.walk_id = strict_pool.walk_id
    and strict.returned = strict_pool.position
left join eligible_counts as advisory_pool
    on advisory.walk_id = advisory_pool.walk_id
    and advisory.returned = advisory_pool.position
where strict.rule = 'strict' and advisory.rule = 'advisory'
