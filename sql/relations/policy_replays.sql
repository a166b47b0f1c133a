-- policy_replays: one order run under a policy, a budget and a rule at the primary cap; covered is null without labels.
-- grain: archive, competition, question_id, repeat, cap, policy, budget, rule
select
    archives.archive,
    problems.competition,
    problems.question_id,
    coverage.repeat,
    caps.cap,
    used_policies.policy,
    halted_stops.budget,
    halted_stops.rule,
    halted_stops.launched,
    halted_stops.returned,
    eligible_counts.eligible_count as eligible,
    halted_stops.completion_cost,
    launched.cumulative_prompt as prompt_cost,
    halted_stops.completion_cost - returned.cumulative_cost as prefix_tokens,
    case when coverage.is_graded then coalesce(coverage.covered_from <= halted_stops.returned, false) end as covered,
from halted_stops
inner join caps on caps.is_primary
inner join used_policies on halted_stops.policy_id = used_policies.policy_id
inner join coverage on halted_stops.walk_id = coverage.walk_id
inner join walked_attempts as launched on halted_stops.launched_prefix_id = launched.prefix_id
inner join walked_attempts as returned on halted_stops.returned_prefix_id = returned.prefix_id
inner join eligible_counts on halted_stops.returned_prefix_id = eligible_counts.prefix_id
inner join banks on coverage.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
