-- pools: how many eligible attempts each rule ends with, how often none, and the tail of the advisory cost.
-- grain: archive, budget
select
    archives.archive,
    ledger.budget,
    sum(ledger.eligible_count) filter (rules.rule = 'strict') / count(*) filter (rules.rule = 'strict') as strict_eligible,
    sum(ledger.eligible_count) filter (rules.rule = 'advisory') / count(*) filter (rules.rule = 'advisory')
        as advisory_eligible,
    100 * count(*) filter (rules.rule = 'strict' and ledger.eligible_count = 0) / count(*) filter (rules.rule = 'strict')
        as strict_abstention,
    100 * count(*) filter (rules.rule = 'advisory' and ledger.eligible_count = 0)
        / count(*) filter (rules.rule = 'advisory') as advisory_abstention,
    100 * count(*) filter (rules.rule = 'advisory' and ledger.returned = 1) / count(*) filter (rules.rule = 'advisory')
        as advisory_one_return,
    quantile_cont(ledger.completion_cost::double, 0.95) filter (rules.rule = 'advisory') as advisory_p95,
    quantile_cont(ledger.completion_cost::double, 0.95) filter (rules.rule = 'advisory') / ledger.budget as p95_ratio,
    count(*) filter (rules.rule = 'advisory' and ledger.eligible_count = 0) as advisory_empty,
    count(*) filter (rules.rule = 'advisory' and ledger.eligible_count = 1) as advisory_single,
    count(*) filter (rules.rule = 'advisory' and ledger.eligible_count >= 2) as advisory_multi,
from ledger
inner join rules on ledger.rule_id = rules.rule_id
inner join caps on ledger.cap = caps.cap
inner join banks on ledger.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
where caps.is_primary and ledger.repeat > 0
group by archives.archive, ledger.budget
order by archives.archive, ledger.budget
