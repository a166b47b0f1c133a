-- strict_kinks: some budgets at which a walk of the archive ends, from 0 to the costliest walk, and the strict cost of every problem and its walks that go on there, in ascending problem_id.
-- grain: archive_id, budget
-- The strict cost is a straight line between two neighbouring kinks. Some of them, here about four times the square root of their number, narrow the search for a cost.
with ranked as (
    select
        archive_id,
        whole_cost,
        row_number() over (partition by archive_id order by whole_cost) as place,
        count(*) over (partition by archive_id) as kinks,
    from (select distinct archive_id, whole_cost from whole_costs)
),
kinks as (
    select archive_id, whole_cost as budget
    from ranked
    where place = kinks or place % greatest(1, floor(sqrt(kinks) / 4)::bigint) = 0
    union all
    select distinct archive_id, 0 as budget
    from ranked
),
problem_kinks as (
    select
        kinks.archive_id,
        kinks.budget,
        whole_costs.problem_id,
        sum(least(kinks.budget, whole_costs.whole_cost))::double as cost,
        count(*) filter (whole_costs.whole_cost > kinks.budget)::double as going_on,
    from kinks
    inner join whole_costs on kinks.archive_id = whole_costs.archive_id
    group by kinks.archive_id, kinks.budget, whole_costs.problem_id
)
select
    archive_id,
    budget,
    list(cost order by problem_id) as costs,
    list(going_on order by problem_id) as going_on,
from problem_kinks
group by archive_id, budget
