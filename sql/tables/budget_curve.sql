-- budget_curve: both rules at many budgets: accuracy, coverage and cost, the change with its interval at each budget, and a band that holds the whole curve.
-- grain: archive, budget
-- Totals at the budgets at which something changes: they hold until the next.
with totals as materialized (
    select
        archive,
        budget,
        sum(sum(strict_correct)) over curve as strict_correct,
        sum(sum(advisory_correct)) over curve as advisory_correct,
        sum(sum(strict_covered)) over curve as strict_covered,
        sum(sum(advisory_covered)) over curve as advisory_covered,
        sum(sum(strict_slope)) over curve as strict_slope,
        sum(sum(strict_offset)) over curve as strict_offset,
        sum(sum(advisory_cost)) over curve as advisory_cost,
    from problem_curves
    group by archive, budget
    window curve as (partition by archive order by budget)
),
gains as materialized (
    select
        archive,
        budget,
        replicate,
        replays,
        -- Whole numbers divided once: equal fractions give equal numbers.
        100 * gained / replays as delta,
    from replicate_curves
),
spreads as materialized (
    select
        archive,
        budget,
        any_value(replays) filter (replicate = 0) as replays,
        any_value(delta) filter (replicate = 0) as delta,
        quantile_cont(delta, [0.025, 0.975]) filter (replicate > 0) as delta_ends,
        case
            -- In one order, so that the last digit is the same on any number of threads.
            when min(delta) filter (replicate > 0) < max(delta) filter (replicate > 0)
            then list_stddev_samp(list(delta order by replicate) filter (replicate > 0))
            when count(delta) filter (replicate > 0) > 1 then 0
        end as error,
    from gains
    group by archive, budget
)
select
    archives.archive,
    curve_budgets.budget,
    100 * totals.strict_correct / spreads.replays as strict_accuracy,
    100 * totals.advisory_correct / spreads.replays as advisory_accuracy,
    spreads.delta,
    spreads.delta_ends[1] as delta_low,
    spreads.delta_ends[2] as delta_high,
    spreads.delta - case when spreads.error > 0 then bands.width else 0 end * spreads.error as band_low,
    spreads.delta + case when spreads.error > 0 then bands.width else 0 end * spreads.error as band_high,
    100 * totals.strict_covered / spreads.replays as strict_coverage,
    100 * totals.advisory_covered / spreads.replays as advisory_coverage,
    (totals.strict_slope * curve_budgets.budget - totals.strict_offset) / spreads.replays as strict_cost,
    totals.advisory_cost / spreads.replays as advisory_cost,
from curve_budgets
inner join archives on curve_budgets.archive_id = archives.archive_id
asof join totals
    on archives.archive = totals.archive
    and curve_budgets.budget >= totals.budget
inner join spreads
    on totals.archive = spreads.archive
    and totals.budget = spreads.budget
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
        where gains.replicate > 0 and spreads.error > 0
        group by archive, gains.replicate
    )
    group by archive
) as bands
    on totals.archive = bands.archive
order by archives.archive, curve_budgets.budget
