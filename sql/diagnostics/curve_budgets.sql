-- curve_budgets: the budgets of an archive's curve: those of the run, and points evenly apart on a
--     logarithmic scale from its cheapest attempt to its costliest walk.
-- grain: archive_id, budget
with costs as (
    select
        banks.archive_id,
        max(walked_attempts.cumulative_cost)::double as costliest_walk,
    from whole_walked as walked_attempts
    inner join banks on walked_attempts.bank_id = banks.bank_id
    where walked_attempts.repeat > 0 and walked_attempts.position <= (select cap from caps where is_primary)
    group by banks.archive_id
),
ends as (
    select
        costs.archive_id,
        min(candidates.cost)::double as cheapest,
        any_value(costs.costliest_walk) as costliest,
    from costs
    inner join banks on costs.archive_id = banks.archive_id
    inner join candidates on banks.bank_id = candidates.bank_id
    group by costs.archive_id
),
points as (
    select unnest(range(value::integer)) / greatest(value::integer - 1, 1) as share
    from settings
    where key = 'curve_points'
)
select
    ends.archive_id,
    budgets.budget,
from ends
cross join budgets
union
select
    ends.archive_id,
    floor(ends.cheapest * pow(ends.costliest / ends.cheapest, points.share) + 0.5)::bigint as budget,
from ends
cross join points
