-- policy_replays: one order run under a policy, a budget and a rule at the primary cap; covered is
--     null without labels.
-- grain: archive, competition, question_id, repeat, cap, policy, budget, rule
select
    archives.archive,
    problems.competition,
    problems.question_id,
    coverage.repeat,
    caps.cap,
    used_policies.policy,
    policy_rule_stops.budget,
    policy_rule_stops.rule,
    policy_rule_stops.launched,
    policy_rule_stops.returned,
    eligible_counts.eligible_count as eligible,
    policy_rule_stops.cost,
    launched.cumulative_prompt as prompt_tokens,
    policy_rule_stops.cost - returned.cumulative_cost as prefix_cost,
    case when coverage.is_graded then coalesce(coverage.covered_from <= policy_rule_stops.returned, false) end as covered,
from policy_rule_stops
inner join caps on caps.is_primary
inner join used_policies on policy_rule_stops.policy_id = used_policies.policy_id
inner join coverage on policy_rule_stops.walk_id = coverage.walk_id
inner join walked_attempts as launched on policy_rule_stops.launched_prefix_id = launched.prefix_id
inner join walked_attempts as returned on policy_rule_stops.returned_prefix_id = returned.prefix_id
inner join eligible_counts on policy_rule_stops.returned_prefix_id = eligible_counts.prefix_id
inner join banks on coverage.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
