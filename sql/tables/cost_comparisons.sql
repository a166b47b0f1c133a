-- cost_comparisons: every advisory budget against every strict budget: accuracy and realized cost, with paired intervals.
-- grain: archive, advisory_budget, strict_budget
with points as (
    select
        archive,
        budget,
        replicate,
        100 * strict_correct / replays as strict_accuracy,
        100 * advisory_correct / replays as advisory_accuracy,
        strict_cost / replays as strict_cost,
        advisory_cost / replays as advisory_cost,
        (strict_cost + strict_prompt) / replays as strict_total,
        (advisory_cost + advisory_prompt) / replays as advisory_total,
    from replicate_pairs
),
comparisons as (
    select
        archive,
        advisory.budget as advisory_budget,
        strict.budget as strict_budget,
        replicate,
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
    inner join points as strict using (archive, replicate)
),
-- Both ends of an interval come from one list of replicates, which is what takes memory.
compared as (
    select
        archive,
        advisory_budget,
        strict_budget,
        any_value(advisory_cost) filter (replicate = 0) as advisory_cost,
        any_value(strict_cost) filter (replicate = 0) as strict_cost,
        any_value(cost_difference) filter (replicate = 0) as cost_difference,
        quantile_cont(cost_difference, [0.025, 0.975]) filter (replicate > 0) as difference_ends,
        any_value(cost_ratio) filter (replicate = 0) as cost_ratio,
        quantile_cont(cost_ratio, [0.025, 0.975]) filter (replicate > 0) as ratio_ends,
        any_value(advisory_total) filter (replicate = 0) as advisory_total,
        any_value(strict_total) filter (replicate = 0) as strict_total,
        any_value(total_difference) filter (replicate = 0) as total_difference,
        quantile_cont(total_difference, [0.025, 0.975]) filter (replicate > 0) as total_ends,
        any_value(advisory_accuracy) filter (replicate = 0) as advisory_accuracy,
        any_value(strict_accuracy) filter (replicate = 0) as strict_accuracy,
        any_value(delta) filter (replicate = 0) as delta,
        quantile_cont(delta, [0.025, 0.975]) filter (replicate > 0) as delta_ends,
    from comparisons
    group by archive, advisory_budget, strict_budget
)
select
    archive,
    advisory_budget,
    strict_budget,
    advisory_cost,
    strict_cost,
    cost_difference,
    difference_ends[1] as cost_difference_low,
    difference_ends[2] as cost_difference_high,
    cost_ratio,
    ratio_ends[1] as cost_ratio_low,
    ratio_ends[2] as cost_ratio_high,
    advisory_total,
    strict_total,
    total_difference,
    total_ends[1] as total_difference_low,
    total_ends[2] as total_difference_high,
    advisory_accuracy,
    strict_accuracy,
    delta,
    delta_ends[1] as delta_low,
    delta_ends[2] as delta_high,
from compared
order by archive, advisory_budget, strict_budget
