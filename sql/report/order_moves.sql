-- order_moves: the largest error that the choice of random orders leaves in a mean of $archives (none
--     named: of all), and how many orders would make it a tenth of what the problems leave in any:
--     $first, doubled as often as that needs, up to $most.
-- grain: orders
select
    arg_max(orders, order_error order by archive, budget, rule) filter (is_asked) as orders,
    max(order_error) filter (is_asked) as order_error,
    max(least($most, $first * 2 ** ceil(log2(greatest(1, needed / $first)))))::bigint as steady_orders,
from (
    select
        *,
        len($archives) = 0 or list_contains($archives, archive) as is_asked,
        coalesce(orders * (100 * order_error * order_error) / nullif(problem_error * problem_error, 0), 0) as needed,
    from (
{% include 'report/order_errors.sql' %}
    )
)
where order_error > 0
