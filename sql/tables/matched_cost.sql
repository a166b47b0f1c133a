-- matched_cost: the advisory rule against the strict rule at the budget where it costs the same, solved exactly in every replicate.
-- grain: archive, advisory_budget
with matched as materialized (
    from matched_budgets
),
deltas as (
    select
        matched.archive,
        matched.advisory_budget,
        matched.replicate,
        100 * advisory.correct / advisory.replays as advisory_accuracy,
        100 * list_dot_product(archive_weights.counts, strict_levels.correct) / advisory.replays as strict_accuracy,
        100 * (advisory.correct - list_dot_product(archive_weights.counts, strict_levels.correct))
            / advisory.replays as delta,
    from matched
    inner join replicate_scores as advisory
        on matched.archive = advisory.archive
        and matched.advisory_budget = advisory.budget
        and matched.replicate = advisory.replicate
    inner join archive_weights
        on matched.archive = archive_weights.archive
        and matched.replicate = archive_weights.replicate
    asof join strict_levels
        on matched.archive = strict_levels.archive
        and matched.strict_budget >= strict_levels.budget
    where advisory.rule = 'advisory' and advisory.is_primary
),
intervals as (
    select
        matched.archive,
        matched.advisory_budget,
        quantile_cont(matched.strict_budget::double, [0.025, 0.975]) as budget_ends,
        quantile_cont(deltas.delta, [0.025, 0.975]) as delta_ends,
        quantile_cont(deltas.delta, [0.05, 0.95]) as test_ends,
    from matched
    left join deltas using (archive, advisory_budget, replicate)
    where replicate > 0
    group by matched.archive, matched.advisory_budget
)
select
    matched.archive,
    matched.advisory_budget,
    any_value(advisory_costs.completion_cost / advisory_costs.replays) as advisory_cost,
    any_value(matched.strict_budget) as strict_budget,
    any_value(intervals.budget_ends[1]) as strict_budget_low,
    any_value(intervals.budget_ends[2]) as strict_budget_high,
    sum(least(matched.strict_budget, whole_costs.whole_cost)) / count(*) as strict_cost,
    any_value(deltas.advisory_accuracy) as advisory_accuracy,
    any_value(deltas.strict_accuracy) as strict_accuracy,
    any_value(deltas.delta) as delta,
    any_value(intervals.delta_ends[1]) as delta_low,
    any_value(intervals.delta_ends[2]) as delta_high,
    any_value(greatest(abs(intervals.test_ends[1]), abs(intervals.test_ends[2]))) as equivalence_margin,
    any_value(matched.is_exhausted) as exhausted,
from matched
inner join archives on matched.archive = archives.archive
inner join whole_costs on archives.archive_id = whole_costs.archive_id
inner join replicate_costs as advisory_costs
    on matched.archive = advisory_costs.archive
    and matched.advisory_budget = advisory_costs.budget
    and matched.replicate = advisory_costs.replicate
    and advisory_costs.rule = 'advisory'
left join deltas
    on matched.archive = deltas.archive
    and matched.advisory_budget = deltas.advisory_budget
    and matched.replicate = deltas.replicate
left join intervals
    on matched.archive = intervals.archive
    and matched.advisory_budget = intervals.advisory_budget
where matched.replicate = 0
group by matched.archive, matched.advisory_budget
order by matched.archive, matched.advisory_budget
