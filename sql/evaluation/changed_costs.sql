-- changed_costs: by how much the totals over a problem's random orders change once the budget
--     reaches this one, at the primary cap; slope_change is by how much more the cost grows with
--     the budget from there on.
-- grain: bank_id, rule, budget
with launches as (
    select
        coverage.bank_id,
        coverage.walk_id,
        walked_attempts.prefix_id,
        walked_attempts.slot,
        walked_attempts.cost,
        walked_attempts.cumulative_cost,
        walked_attempts.cumulative_cost - walked_attempts.cost as begun_at,
        case when coverage.is_graded then 0 end as nothing_covered,
        walked_attempts.position is not distinct from coverage.covered_from as is_covering,
        walked_attempts.is_end or walked_attempts.position = (select cap from caps where is_primary) as is_last,
    from walked_attempts
    inner join coverage on walked_attempts.walk_id = coverage.walk_id
    where coverage.repeat > 0 and walked_attempts.position between 1 and (select cap from caps where is_primary)
),
step_begins as (
    select
        bank_id,
        slot,
        coalesce(lag(step_end) over steps_before, 0) as step_begin,
        step_end - step_begin as step_cost,
    from step_ends
    window steps_before as (partition by bank_id, slot order by step_end)
),
changes as (
    -- Every rule launches an attempt while something is left of the budget.
    select
        launches.bank_id,
        known_rules.rule,
        launches.begun_at + 1 as budget,
        launches.nothing_covered as covered_change,
        1 as launched_change,
        case when known_rules.pays_for = 'attempt' then launches.cost else 0 end as cost_change,
        0 as slope_change,
    from launches
    cross join known_rules
    union all
    select launches.bank_id, return_budgets.rule, return_budgets.budget, 1 + launches.nothing_covered, 0, 0, 0
    from launches
    inner join return_budgets on launches.prefix_id = return_budgets.prefix_id
    where launches.is_covering
    union all
    select
        launches.bank_id,
        known_rules.rule,
        launches.begun_at + coalesce(step_begins.step_begin, 0) + 1,
        launches.nothing_covered,
        0,
        coalesce(step_begins.step_cost, launches.cost),
        0,
    from launches
    inner join known_rules on known_rules.pays_for = 'step'
    left join step_begins
        on launches.bank_id = step_begins.bank_id
        and launches.slot = step_begins.slot
    union all
    -- What is paid up to the budget grows with it, from nothing to the end of the walk.
    select
        launches.bank_id,
        known_rules.rule,
        unnest([0, launches.cumulative_cost]),
        launches.nothing_covered,
        0,
        0,
        unnest([1, -1]),
    from launches
    inner join known_rules on known_rules.pays_for = 'budget'
    where launches.is_last
)
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
having
    coalesce(sum(covered_change), 0) <> 0
    or sum(launched_change) <> 0
    or sum(cost_change) <> 0
    or sum(slope_change) <> 0
