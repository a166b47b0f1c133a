-- truncation_floor: replays whose first attempt hit the generation limit and costs the whole
--     budget, beside advisory abstention.
-- grain: archive, budget
select
    archives.archive,
    ledger.budget,
    count(*) as replays,
    count(*) filter (candidates.finish_reason = 'length' and candidates.cost >= ledger.budget) as capped_first,
    100 * count(*) filter (coalesce(eligible_counts.eligible_count, 0) = 0) / count(*) as advisory_abstention,
from primary_stops as ledger
left join eligible_counts
    on ledger.walk_id = eligible_counts.walk_id
    and ledger.returned = eligible_counts.position
inner join walked as first_attempt
    on ledger.walk_id = first_attempt.walk_id
    and first_attempt.position = 1
inner join candidates on first_attempt.candidate_id = candidates.candidate_id
inner join banks on ledger.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
where ledger.rule = 'advisory' and ledger.repeat > 0
group by archives.archive, ledger.budget
order by archives.archive, ledger.budget
