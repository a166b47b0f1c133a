-- replicate_policies: weighted totals of an archive under a policy, and by how much they differ from those without one; replicate 0 weighs every problem once. Correct answers are null without labels.
-- grain: archive, policy, rule, budget, replicate
with totals as (
    select
        policy_totals.archive,
        policy_totals.policy,
        policy_totals.rule,
        policy_totals.budget,
        any_value(policy_totals.replays) as replays,
        count(policy_totals.correct) > 0 as is_graded,
        -- Lists of null make no product.
        list((coalesce(policy_totals.correct - unhalted.correct, 0))::double order by policy_totals.problem_id) as gained,
        list(policy_totals.completion_cost::double order by policy_totals.problem_id) as cost,
        list(unhalted.completion_cost::double order by policy_totals.problem_id) as whole_cost,
    from policy_totals
    inner join policy_totals as unhalted using (bank_id, rule, budget)
    where unhalted.policy = 'none'
    group by policy_totals.archive, policy_totals.policy, policy_totals.rule, policy_totals.budget
)
select
    totals.archive,
    totals.policy,
    totals.rule,
    totals.budget,
    archive_weights.replicate,
    archive_weights.draws * totals.replays as replays,
    case when totals.is_graded then list_dot_product(archive_weights.counts, totals.gained) end as gained,
    list_dot_product(archive_weights.counts, totals.cost) as cost,
    list_dot_product(archive_weights.counts, totals.whole_cost) as whole_cost,
from totals
inner join archive_weights on totals.archive = archive_weights.archive
