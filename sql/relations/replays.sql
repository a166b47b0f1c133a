-- replays: one order run under a cap, a budget and a rule; covered is null without labels.
-- grain: archive, competition, question_id, repeat, cap, budget, rule
select
    archives.archive,
    problems.competition,
    problems.question_id,
    ledger.repeat,
    ledger.cap,
    ledger.budget,
    ledger.rule,
    ledger.launched,
    ledger.returned,
    eligible_counts.eligible_count as eligible,
    ledger.cost,
    ledger.prompt_tokens,
    ledger.prefix_cost,
    ledger.is_covered as covered,
from ledger
inner join eligible_counts on ledger.returned_prefix_id = eligible_counts.prefix_id
inner join banks on ledger.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
