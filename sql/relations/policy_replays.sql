-- policy_replays: one order run under a policy, a budget and a rule at the primary cap; covered is
--     null without labels.
-- grain: archive, competition, question_id, repeat, cap, policy, budget, rule
select
    archives.archive,
    problems.competition,
    problems.question_id,
    ledger.repeat,
    caps.cap,
    used_policies.policy,
    ledger.budget,
    ledger.rule,
    ledger.launched,
    ledger.returned,
    coalesce(eligible_counts.eligible_count, 0) as eligible,
    ledger.cost,
    ledger.prompt_tokens,
    ledger.prefix_cost,
    ledger.is_covered as covered,
from (
{% include 'evaluation/policy_ledger.sql' %}

) as ledger
inner join caps on caps.is_primary
inner join used_policies on ledger.policy_id = used_policies.policy_id
left join eligible_counts
    on ledger.walk_id = eligible_counts.walk_id
    and ledger.returned = eligible_counts.position
inner join banks on ledger.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
