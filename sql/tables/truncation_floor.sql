-- truncation_floor: replays whose first attempt hit the generation limit and costs the whole
--     budget, beside advisory abstention.
-- grain: archive, budget
select
    archives.archive,
    ledger.budget,
    count(*) as replays,
    count(*) filter (candidates.finish_reason = 'length' and first_attempt.cost >= ledger.budget) as capped_first,
    100 * count(*) filter (eligible_counts.eligible_count = 0) / count(*) as advisory_abstention,
from primary_ledger as ledger
inner join eligible_counts on ledger.returned_prefix_id = eligible_counts.prefix_id
inner join walked_attempts as first_attempt on ledger.walk_id + 1 = first_attempt.prefix_id
inner join candidates
    on first_attempt.bank_id = candidates.bank_id
    and first_attempt.slot = candidates.slot
inner join banks on ledger.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
where ledger.rule = 'advisory' and ledger.repeat > 0
group by archives.archive, ledger.budget
order by archives.archive, ledger.budget
