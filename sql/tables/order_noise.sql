-- order_noise: how much of a change's uncertainty comes from the random orders and how much from
--     the problems, and how many orders make the first a tenth of the second.
-- grain: archive, budget
with bank_gains as (
    select
        archives.archive,
        paired.budget,
        paired.bank_id,
        count(*) as orders,
        sum(paired.is_advisory_correct::integer - paired.is_strict_correct::integer) as gained,
        count(*) filter (paired.is_advisory_correct <> paired.is_strict_correct) as changed,
    from (
{% include 'diagnostics/paired_labels.sql' %}

    ) as paired
    inner join banks on paired.bank_id = banks.bank_id
    inner join archives on banks.archive_id = archives.archive_id
    group by archives.archive, paired.budget, paired.bank_id
),
noise as (
    select
        archive,
        budget,
        any_value(orders) as orders,
        -- Variances are added as whole numbers, so that the sum is the same in any order of rows.
        case
            when any_value(orders) > 1
            then sqrt(
                10000 * sum(orders * changed - gained * gained)
                / (any_value(orders) * (any_value(orders) - 1)) / any_value(orders)
            ) / count(*)
        end as order_error,
    from bank_gains
    group by archive, budget
)
select
    archive,
    budget,
    delta,
    order_error,
    delta_error as problem_error,
    -- A whole number that rounding has pushed up a hair stays itself.
    case
        when problem_error > 0 then ceil(orders * pow(order_error / (0.1 * problem_error), 2) * (1 - 1e-12))
    end::bigint as orders_needed,
from noise
inner join interval_gains using (archive, budget)
inner join graded_archives using (archive)
where is_graded
order by archive, budget
