-- budget_curve: both rules at many budgets: accuracy, coverage and cost, the change with its interval at each budget, and a band that holds the whole curve.
-- grain: archive, budget
with points as materialized (
    select
        archive,
        budget,
        sum(replays) as replays,
        sum(strict_correct) as strict_correct,
        sum(advisory_correct) as advisory_correct,
        sum(strict_covered) as strict_covered,
        sum(advisory_covered) as advisory_covered,
        sum(strict_cost) as strict_cost,
        sum(advisory_cost) as advisory_cost,
    from problem_curves
    group by archive, budget
),
gains as materialized (
    select
        archive,
        budget,
        replicate,
        -- Whole numbers divided once: equal fractions give equal numbers.
        100 * gained / replays as delta,
    from replicate_curves
    where replicate > 0
),
spreads as materialized (
    select
        archive,
        points.budget,
        100 * any_value(points.advisory_correct - points.strict_correct) / any_value(points.replays) as delta,
        quantile_cont(gains.delta, [0.025, 0.975]) as delta_ends,
        case
            -- In one order, so that the last digit is the same on any number of threads.
            when min(gains.delta) < max(gains.delta)
            then list_stddev_samp(list(gains.delta order by gains.replicate))
            when count(gains.delta) > 1 then 0
        end as error,
    from points
    left join gains using (archive, budget)
    group by archive, points.budget
)
select
    archive,
    points.budget,
    100 * points.strict_correct / points.replays as strict_accuracy,
    100 * points.advisory_correct / points.replays as advisory_accuracy,
    spreads.delta,
    spreads.delta_ends[1] as delta_low,
    spreads.delta_ends[2] as delta_high,
    spreads.delta - case when spreads.error > 0 then bands.width else 0 end * spreads.error as band_low,
    spreads.delta + case when spreads.error > 0 then bands.width else 0 end * spreads.error as band_high,
    100 * points.strict_covered / points.replays as strict_coverage,
    100 * points.advisory_covered / points.replays as advisory_coverage,
    points.strict_cost / points.replays as strict_cost,
    points.advisory_cost / points.replays as advisory_cost,
from points
inner join spreads using (archive, budget)
left join (
    -- The farthest that a replicate strays anywhere on the curve, in errors.
    select
        archive,
        quantile_cont(farthest, 0.95) as width,
    from (
        select
            archive,
            gains.replicate,
            max(abs(gains.delta - spreads.delta) / spreads.error) as farthest,
        from gains
        inner join spreads using (archive, budget)
        where spreads.error > 0
        group by archive, gains.replicate
    )
    group by archive
) as bands using (archive)
order by archive, points.budget
