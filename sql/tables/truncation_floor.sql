-- truncation_floor: replays whose first attempt hit the generation limit and costs the whole budget, beside advisory abstention.
-- grain: archive, budget
select
    archives.archive,
    ledger.budget,
    count(*) as replays,
    count(*) filter (candidates.finish_reason = 'length' and first_step.cost >= ledger.budget) as capped_first,
    100 * count(*) filter (ledger.eligible_count = 0) / count(*) as advisory_abstention,
from ledger
inner join rules on ledger.rule_id = rules.rule_id
inner join caps on ledger.cap = caps.cap
inner join steps as first_step
    on ledger.walk_id = first_step.walk_id
    and first_step.position = 1
inner join candidates
    on first_step.bank_id = candidates.bank_id
    and first_step.slot = candidates.slot
inner join banks on ledger.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
where rules.rule = 'advisory' and caps.is_primary and ledger.repeat > 0
group by archives.archive, ledger.budget
order by archives.archive, ledger.budget
