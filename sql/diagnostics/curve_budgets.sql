-- curve_budgets: the budgets of an archive's curve: those of the run, and points evenly apart on a
--     logarithmic scale from its cheapest attempt to its costliest walk.
-- grain: archive_id, budget
-- kept: on demand
with costs as (
    select
        archive_id,
        max(cost)::double as costliest_walk,
    from (
        select
            launched.archive_id,
            launched.walk_id,
            sum(candidates.cost) as cost,
        from (
            select
                walks.archive_id,
                walks.walk_id,
                banks.first_candidate + unnest(drawn_orders.slots[:caps.cap]) as candidate_id,
            from walks
            inner join banks on walks.bank_id = banks.bank_id
            inner join caps on caps.is_primary
            inner join drawn_orders
                on walks.problem_id = drawn_orders.problem_id
                and walks.bank_size = drawn_orders.bank_size
                and walks.repeat = drawn_orders.repeat
            where walks.repeat > 0
        ) as launched
        inner join candidates on launched.candidate_id = candidates.candidate_id
        group by launched.archive_id, launched.walk_id
    )
    group by archive_id
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
