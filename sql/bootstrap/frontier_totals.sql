-- frontier_totals: what a policy under a rule and budget costs and answers at a problem that all
--     archives of the replay have; without policies there is only `none`.
-- grain: archive, policy, rule, budget, problem_id
with points as (
    select archive, problem_id, 'none' as policy, rule, budget, replays, correct, cost
    from rule_totals
    union all
    select archive, problem_id, policy, rule, budget, replays, correct, cost
    from policy_totals
    where policy <> 'none'
),
shared as (
    select problem_id
    from banks
    group by problem_id
    having count(*) = (select count(*) from archives)
)
select
    points.*,
from points
inner join shared on points.problem_id = shared.problem_id
inner join graded_archives on points.archive = graded_archives.archive
where graded_archives.is_graded
