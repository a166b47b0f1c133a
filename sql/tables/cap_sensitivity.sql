-- cap_sensitivity: the paired accuracy change at every cap, in the canonical order, and its range
--     over the random orders, which is no confidence interval.
-- grain: archive, budget, cap
with correct as (
    select
        correct_prefixes.prefix_id,
        {'archive_id': banks.archive_id, 'repeat': walks.repeat} as series,
    from correct_prefixes
    inner join walks on correct_prefixes.walk_id = walks.walk_id
    inner join banks on walks.bank_id = banks.bank_id
),
gains as (
    select
        cap,
        budget,
        -- Few replays end at a correct prefix, and DuckDB takes replays for the fewer: a join would hash all of them, this does not.
        (select correct.series from correct where correct.prefix_id = stops.returned_prefix_id) as series,
        count(*) filter (rule = 'advisory') - count(*) filter (rule = 'strict') as gained,
    from stops
    group by cap, budget, series
),
changes as (
    select
        graded_archives.archive,
        budgets.budget,
        caps.cap,
        repeats.repeat,
        sizes.problems,
        coalesce(gains.gained, 0) as gained,
    from graded_archives
    inner join (select archive_id, count(*) as problems from banks group by archive_id) as sizes
        on graded_archives.archive_id = sizes.archive_id
    cross join budgets
    cross join caps
    cross join repeats
    left join gains
        on graded_archives.archive_id = gains.series.archive_id
        and repeats.repeat = gains.series.repeat
        and caps.cap = gains.cap
        and budgets.budget = gains.budget
    where graded_archives.is_graded
)
select
    archive,
    budget,
    cap,
    100 * sum(gained) filter (repeat > 0) / sum(problems) filter (repeat > 0) as delta,
    100 * sum(gained) filter (repeat = 0) / sum(problems) filter (repeat = 0) as canonical_delta,
    min(100 * gained / problems) filter (repeat > 0) as order_min,
    max(100 * gained / problems) filter (repeat > 0) as order_max,
from changes
group by archive, budget, cap
order by archive, budget, cap
