-- cost_changes: by how much the totals over a problem's random orders change once the budget reaches this one, at the primary cap; slope_change is by how many tokens more or fewer the cost grows with each token of budget from there on.
-- grain: archive, competition, question_id, rule, budget
with steps as (
    select
        coverage.bank_id,
        walked_attempts.cost,
        walked_attempts.cumulative_cost,
        walked_attempts.cumulative_cost - walked_attempts.cost + 1 as launch_budget,
        case when coverage.is_graded then (walked_attempts.position is not distinct from coverage.covered_from)::integer end as covered_change,
        walked_attempts.is_end or walked_attempts.position = (select cap from caps where is_primary) as is_last,
    from walked_attempts
    inner join coverage on walked_attempts.walk_id = coverage.walk_id
    where coverage.repeat > 0 and walked_attempts.position between 1 and (select cap from caps where is_primary)
),
changes as (
    select bank_id, 'advisory' as rule, launch_budget as budget, covered_change, 1 as launched_change, cost as cost_change, 0 as slope_change
    from steps
    union all
    select bank_id, 'strict' as rule, launch_budget as budget, 0 * covered_change as covered_change, 1 as launched_change, 0 as cost_change, 0 as slope_change
    from steps
    union all
    select bank_id, 'strict' as rule, cumulative_cost as budget, covered_change, 0 as launched_change, 0 as cost_change, -(is_last::integer) as slope_change
    from steps
    where is_last or covered_change = 1
    union all
    select bank_id, 'strict' as rule, 0 as budget, case when is_graded then 0 end as covered_change, 0 as launched_change, 0 as cost_change, 1 as slope_change
    from coverage
    where repeat > 0
),
totals as (
    select
        bank_id,
        rule,
        budget,
        sum(covered_change)::bigint as covered_change,
        sum(launched_change)::bigint as launched_change,
        sum(cost_change)::bigint as cost_change,
        sum(slope_change)::bigint as slope_change,
    from changes
    group by bank_id, rule, budget
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    totals.rule,
    totals.budget,
    totals.covered_change,
    totals.launched_change,
    totals.cost_change,
    totals.slope_change,
    totals.bank_id,
from totals
inner join banks on totals.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
where
    coalesce(totals.covered_change, 0) <> 0
    or totals.launched_change <> 0
    or totals.cost_change <> 0
    or totals.slope_change <> 0
