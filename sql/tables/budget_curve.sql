-- budget_curve: both rules at many budgets: accuracy, coverage and cost, the change with its interval at each budget, and a band that holds the whole curve.
-- grain: archive, budget
with gains as materialized (
    from curve_gains
),
spreads as (
    select
        archive,
        budget,
        any_value(delta) filter (replicate = 0) as point,
        quantile_cont(delta, [0.025, 0.975]) filter (replicate > 0) as interval_ends,
        case
            when min(delta) filter (replicate > 0) < max(delta) filter (replicate > 0)
            then stddev_samp(delta) filter (replicate > 0)
            when count(delta) filter (replicate > 0) > 1 then 0
        end as error,
    from gains
    group by archive, budget
),
bands as (
    select
        archive,
        quantile_cont(farthest, 0.95) as width,
    from (
        select
            gains.archive,
            gains.replicate,
            max(abs(gains.delta - spreads.point) / spreads.error) as farthest,
        from gains
        inner join spreads using (archive, budget)
        where gains.replicate > 0 and spreads.error > 0
        group by gains.archive, gains.replicate
    )
    group by archive
)
select
    archive,
    budget,
    100 * sum(curve_totals.strict_correct) / sum(repeats.orders) as strict_accuracy,
    100 * sum(curve_totals.advisory_correct) / sum(repeats.orders) as advisory_accuracy,
    any_value(spreads.point) as delta,
    any_value(spreads.interval_ends[1]) as delta_low,
    any_value(spreads.interval_ends[2]) as delta_high,
    any_value(case when spreads.error = 0 then spreads.point else spreads.point - bands.width * spreads.error end) as band_low,
    any_value(case when spreads.error = 0 then spreads.point else spreads.point + bands.width * spreads.error end) as band_high,
    100 * sum(curve_totals.strict_covered) / sum(repeats.orders) as strict_coverage,
    100 * sum(curve_totals.advisory_covered) / sum(repeats.orders) as advisory_coverage,
    sum(curve_totals.strict_cost) / sum(repeats.orders) as strict_cost,
    sum(curve_totals.advisory_cost) / sum(repeats.orders) as advisory_cost,
from curve_totals
inner join archives using (archive_id)
cross join (select max(repeat) as orders from repeats) as repeats
left join spreads using (archive, budget)
left join bands using (archive)
group by archive, budget
order by archive, budget
