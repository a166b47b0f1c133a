-- problem_policies: what a policy costs and gains at one problem, beside the same controller
--     without one; gains are null without labels.
-- grain: archive, policy, rule, budget, problem_id
select
    policy_totals.archive,
    policy_totals.problem_id,
    policy_totals.policy,
    policy_totals.rule,
    policy_totals.budget,
    policy_totals.replays,
    policy_totals.correct - unhalted.correct as gained,
    policy_totals.cost,
    unhalted.cost as whole_cost,
from policy_totals
inner join policy_totals as unhalted using (bank_id, rule, budget)
where unhalted.policy = 'none'
