-- replicate_policies: weighted totals of an archive under a policy, and by how much they differ from those without one; replicate 0 weighs every problem once. Correct answers are null without labels.
-- grain: archive, policy, rule, budget, replicate
with differences as (
    select
        policy_totals.*,
        policy_totals.correct - unhalted.correct as gained,
        unhalted.completion_cost as whole_cost,
    from policy_totals
    inner join policy_totals as unhalted using (bank_id, rule, budget)
    where unhalted.policy = 'none'
),
-- As long as `counts` of weights, so that no list has to be picked apart in every replicate; a list of null makes no product.
totals as (
    select
        rows.archive,
        rows.policy,
        rows.rule,
        rows.budget,
        any_value(differences.replays) as replays,
        count(differences.correct) > 0 as is_graded,
        list(coalesce(differences.gained, 0)::double order by problems.problem_id) as gained,
        list(coalesce(differences.completion_cost, 0)::double order by problems.problem_id) as cost,
        list(coalesce(differences.whole_cost, 0)::double order by problems.problem_id) as whole_cost,
    from (select distinct archive, policy, rule, budget from differences) as rows
    cross join problems
    left join differences
        on rows.archive = differences.archive
        and rows.policy = differences.policy
        and rows.rule = differences.rule
        and rows.budget = differences.budget
        and problems.problem_id = differences.problem_id
    group by rows.archive, rows.policy, rows.rule, rows.budget
),
weighted as (
    select
        totals.archive,
        totals.policy,
        totals.rule,
        totals.budget,
        weights.replicate,
        totals.replays,
        case when totals.is_graded then list_dot_product(weights.counts, totals.gained) end as gained,
        list_dot_product(weights.counts, totals.cost) as cost,
        list_dot_product(weights.counts, totals.whole_cost) as whole_cost,
    from totals
    cross join weights
)
select
    weighted.archive,
    weighted.policy,
    weighted.rule,
    weighted.budget,
    weighted.replicate,
    archive_weights.draws * weighted.replays as replays,
    weighted.gained,
    weighted.cost,
    weighted.whole_cost,
from weighted
inner join archive_weights
    on weighted.archive = archive_weights.archive
    and weighted.replicate = archive_weights.replicate
