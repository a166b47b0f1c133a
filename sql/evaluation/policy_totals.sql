-- policy_totals: integer totals of an archive at one problem over its random orders at the primary cap under a policy; an answer is kept when it is the one of the policy none.
-- grain: archive, competition, question_id, policy, rule, budget
with totals as (
    select
        policy_results.bank_id,
        policy_results.policy_id,
        policy_results.rule,
        policy_results.budget,
        count(*) as replays,
        sum(policy_results.is_correct::integer)::bigint as correct,
        sum(policy_results.completion_cost)::bigint as completion_cost,
        sum(policy_results.launched)::bigint as launched,
        count(*) filter (policy_results.is_stopped_by_policy) as stopped_by_policy,
        count(*) filter (
            not policy_results.is_stopped_by_policy and policy_results.completion_cost >= policy_results.budget
        ) as stopped_by_budget,
        count(*) filter (policy_results.vote is not distinct from unhalted.vote) as answer_kept,
    from policy_results
    semi join portion on policy_results.walk_id = portion.walk_id
    inner join policy_results as unhalted
        on policy_results.rule = unhalted.rule
        and policy_results.walk_id = unhalted.walk_id
        and policy_results.budget = unhalted.budget
    inner join used_policies on unhalted.policy_id = used_policies.policy_id
    where policy_results.repeat > 0 and used_policies.policy = 'none'
    group by policy_results.bank_id, policy_results.policy_id, policy_results.rule, policy_results.budget
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    problems.problem_id,
    used_policies.policy,
    totals.*,
from totals
inner join used_policies on totals.policy_id = used_policies.policy_id
inner join banks on totals.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
