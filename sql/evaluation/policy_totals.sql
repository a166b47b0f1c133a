-- policy_totals: integer totals of an archive at one problem over its random orders at the primary
--     cap under a policy; an answer is kept when it is the one of the policy none.
-- grain: archive, competition, question_id, policy, rule, budget
-- kept: on demand by walks
with random_results as materialized (
    select
        policy_results.*,
        used_policies.policy = 'none' as is_unhalted,
    from (
{% include 'evaluation/policy_results.sql' %}

    ) as policy_results
    inner join used_policies on policy_results.policy_id = used_policies.policy_id
    where policy_results.repeat > 0
{% if not policies %}
    -- DuckDB would compute every stop before it sees that there is no policy.
    and false
{% endif %}
),
totals as (
    select
        random_results.bank_id,
        random_results.policy_id,
        random_results.rule,
        random_results.budget,
        count(*) as replays,
        sum(random_results.is_correct::integer)::bigint as correct,
        sum(random_results.cost)::bigint as cost,
        sum(random_results.launched)::bigint as launched,
        count(*) filter (random_results.is_stopped_by_policy) as stopped_by_policy,
        count(*) filter (not random_results.is_stopped_by_policy and random_results.cost >= random_results.budget)
            as stopped_by_budget,
        count(*) filter (random_results.vote is not distinct from unhalted.vote) as answer_kept,
    from random_results
    inner join random_results as unhalted
        on random_results.walk_id = unhalted.walk_id
        and random_results.budget = unhalted.budget
        and random_results.rule = unhalted.rule
        and unhalted.is_unhalted
    group by random_results.bank_id, random_results.policy_id, random_results.rule, random_results.budget
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
