-- cost_comparisons: every advisory budget against every strict budget: accuracy and realized cost, with paired intervals.
-- grain: archive, advisory_budget, strict_budget
with points as (
    select
        paired_scores.archive_id,
        paired_scores.budget,
        paired_scores.replicate,
        100 * paired_scores.strict_correct / paired_scores.replays as strict_accuracy,
        100 * paired_scores.advisory_correct / paired_scores.replays as advisory_accuracy,
        paired_costs.strict_cost / paired_scores.replays as strict_cost,
        paired_costs.advisory_cost / paired_scores.replays as advisory_cost,
        (paired_costs.strict_cost + paired_costs.strict_prompt) / paired_scores.replays as strict_total,
        (paired_costs.advisory_cost + paired_costs.advisory_prompt) / paired_scores.replays as advisory_total,
    from paired_scores
    inner join selectors on paired_scores.selector_id = selectors.selector_id
    inner join paired_costs
        on paired_scores.archive_id = paired_costs.archive_id
        and paired_scores.budget = paired_costs.budget
        and paired_scores.replicate = paired_costs.replicate
    where selectors.is_primary
),
comparisons as (
    select
        advisory.archive_id,
        advisory.budget as advisory_budget,
        strict.budget as strict_budget,
        advisory.replicate,
        advisory.advisory_cost,
        strict.strict_cost,
        advisory.advisory_cost - strict.strict_cost as cost_difference,
        advisory.advisory_cost / strict.strict_cost as cost_ratio,
        advisory.advisory_total,
        strict.strict_total,
        advisory.advisory_total - strict.strict_total as total_difference,
        advisory.advisory_accuracy,
        strict.strict_accuracy,
        advisory.advisory_accuracy - strict.strict_accuracy as delta,
    from points as advisory
    inner join points as strict
        on advisory.archive_id = strict.archive_id
        and advisory.replicate = strict.replicate
)
select
    archives.archive,
    comparisons.advisory_budget,
    comparisons.strict_budget,
    any_value(advisory_cost) filter (replicate = 0) as advisory_cost,
    any_value(strict_cost) filter (replicate = 0) as strict_cost,
    any_value(cost_difference) filter (replicate = 0) as cost_difference,
    quantile_cont(cost_difference, 0.025) filter (replicate > 0) as cost_difference_low,
    quantile_cont(cost_difference, 0.975) filter (replicate > 0) as cost_difference_high,
    any_value(cost_ratio) filter (replicate = 0) as cost_ratio,
    quantile_cont(cost_ratio, 0.025) filter (replicate > 0) as cost_ratio_low,
    quantile_cont(cost_ratio, 0.975) filter (replicate > 0) as cost_ratio_high,
    any_value(advisory_total) filter (replicate = 0) as advisory_total,
    any_value(strict_total) filter (replicate = 0) as strict_total,
    any_value(total_difference) filter (replicate = 0) as total_difference,
    quantile_cont(total_difference, 0.025) filter (replicate > 0) as total_difference_low,
    quantile_cont(total_difference, 0.975) filter (replicate > 0) as total_difference_high,
    any_value(advisory_accuracy) filter (replicate = 0) as advisory_accuracy,
    any_value(strict_accuracy) filter (replicate = 0) as strict_accuracy,
    any_value(delta) filter (replicate = 0) as delta,
    quantile_cont(delta, 0.025) filter (replicate > 0) as delta_low,
    quantile_cont(delta, 0.975) filter (replicate > 0) as delta_high,
from comparisons
inner join archives on comparisons.archive_id = archives.archive_id
group by archives.archive, comparisons.advisory_budget, comparisons.strict_budget
order by archives.archive, comparisons.advisory_budget, comparisons.strict_budget
