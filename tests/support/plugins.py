"""Rules and a selector as a user would write them."""

FIRST = """-- first: the first eligible answer.
-- grain: walk_id, position
select
    walk_id,
    position,
    -position as standing,
    candidate_id,
from walked_attempts
where is_eligible
"""
GRACE = """-- grace: like strict, with a tenth more than the budget.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    max(position) filter (cumulative_cost - cost < budget) as launched,
    max(position) filter (
        cumulative_cost - cost < budget and 10 * cumulative_cost <= 11 * budget
    ) as returned,
    least(
        11 * budget // 10, max(cumulative_cost) filter (cumulative_cost - cost < budget)
    ) as cost,
from budgeted_attempts
group by walk_id, cap, budget;
"""
EVERYTHING = """-- everything: all attempts up to the cap, whatever they cost.
-- grain: walk_id, cap, budget
select
    walk_id,
    cap,
    budget,
    max(position) as launched,
    max(position) as returned,
    max(cumulative_cost) as cost,
from budgeted_attempts
group by walk_id, cap, budget
"""
