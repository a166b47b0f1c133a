-- cap_sensitivity: the paired accuracy change at every cap, in the canonical order, and its range
--     over the random orders, which is no confidence interval.
-- grain: archive, budget, cap
with gains as (
    select
        banks.archive_id,
        stops.repeat,
        stops.cap,
        stops.budget,
        count(*) filter (stops.rule = 'advisory') - count(*) filter (stops.rule = 'strict') as gained,
    from stops
    inner join correct_picks
        on stops.walk_id = correct_picks.walk_id
        and stops.returned >= correct_picks.from_position
        and stops.returned < correct_picks.until_position
    inner join banks on stops.bank_id = banks.bank_id
    group by banks.archive_id, stops.repeat, stops.cap, stops.budget
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
        on graded_archives.archive_id = gains.archive_id
        and repeats.repeat = gains.repeat
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
