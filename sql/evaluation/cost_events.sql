-- cost_events: what changes in a replay of a random order at the primary cap once the budget reaches
--     this one: an attempt is launched, a step or an attempt is paid, the first correct attempt is
--     covered, or the cost begins or ends to grow with the budget.
-- grain: walk_id, position, rule, event, budget
with launches as (
    select
        coverage.bank_id,
        coverage.walk_id,
        walked_attempts.position,
        walked_attempts.slot,
        walked_attempts.cost,
        walked_attempts.cumulative_cost,
        walked_attempts.cumulative_cost - walked_attempts.cost as begun_at,
        case when coverage.is_graded then 0 end as nothing_covered,
        coalesce(walked_attempts.position = coverage.covered_from, false) as is_covering,
        walked_attempts.is_end or walked_attempts.position = (select cap from caps where is_primary) as is_last,
    from whole_attempts as walked_attempts
    inner join (
{% include 'evaluation/whole_coverage.sql' %}

    ) as coverage
        on walked_attempts.walk_id = coverage.walk_id
    where coverage.repeat > 0 and walked_attempts.position <= (select cap from caps where is_primary)
)
-- Every rule launches an attempt while something is left of the budget.
select
    launches.bank_id,
    launches.walk_id,
    launches.position,
    known_rules.rule,
    'launched' as event,
    launches.begun_at + 1 as budget,
    launches.nothing_covered as covered_change,
    1 as launched_change,
    case when known_rules.pays_for = 'attempt' then launches.cost else 0 end as cost_change,
    0 as slope_change,
from launches
cross join known_rules
union all
select
    launches.bank_id,
    launches.walk_id,
    launches.position,
    return_budgets.rule,
    'covered' as event,
    return_budgets.budget,
    1 + launches.nothing_covered,
    0,
    0,
    0,
from launches
inner join return_budgets
    on launches.walk_id = return_budgets.walk_id
    and launches.position = return_budgets.position
where launches.is_covering
union all
select
    launches.bank_id,
    launches.walk_id,
    launches.position,
    known_rules.rule,
    'step' as event,
    launches.begun_at + coalesce(step_ends.step_begin, 0) + 1,
    launches.nothing_covered,
    0,
    coalesce(step_ends.step_end - step_ends.step_begin, launches.cost),
    0,
from launches
inner join known_rules on known_rules.pays_for = 'step'
left join step_ends
    on launches.bank_id = step_ends.bank_id
    and launches.slot = step_ends.slot
union all
-- What is paid up to the budget grows with it, from nothing to the end of the walk.
select
    launches.bank_id,
    launches.walk_id,
    launches.position,
    known_rules.rule,
    'end' as event,
    unnest([0, launches.cumulative_cost]),
    launches.nothing_covered,
    0,
    0,
    unnest([1, -1]),
from launches
inner join known_rules on known_rules.pays_for = 'budget'
where launches.is_last
