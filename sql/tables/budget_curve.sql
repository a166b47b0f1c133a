-- budget_curve: both rules at many budgets: accuracy, coverage and cost, the change with its
--     interval at each budget, and a band that holds the whole curve.
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
)
select
    archives.archive,
    curve_budgets.budget,
    100 * totals.strict_correct / spreads.replays as strict_accuracy,
    100 * totals.advisory_correct / spreads.replays as advisory_accuracy,
    spreads.delta,
    spreads.delta_low,
    spreads.delta_high,
    spreads.delta - spreads.band * spreads.delta_error as band_low,
    spreads.delta + spreads.band * spreads.delta_error as band_high,
    100 * totals.strict_covered / spreads.replays as strict_coverage,
    100 * totals.advisory_covered / spreads.replays as advisory_coverage,
    (totals.strict_slope * curve_budgets.budget - totals.strict_offset) / spreads.replays as strict_cost,
    totals.advisory_cost / spreads.replays as advisory_cost,
from curve_budgets
inner join archives on curve_budgets.archive_id = archives.archive_id
asof join totals
    on archives.archive = totals.archive
    and curve_budgets.budget >= totals.budget
asof join interval_curves as spreads
    on archives.archive = spreads.archive
    and curve_budgets.budget >= spreads.budget
order by archives.archive, curve_budgets.budget
