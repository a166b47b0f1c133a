-- interval_strict_curves: advisory accuracy against the strict curve read off at the same mean cost
--     by straight lines, with the ends of the difference's interval.
-- grain: archive, advisory_budget
-- of: interval_rule_totals
-- intervals: delta low high; left_at changed; is_outside changed
-- together: archive
-- Strict costs never fall with the budget, so they are in order. left_at numbers the strict point at which the straight
-- line begins: the leftmost rising one that the advisory cost falls on, a flat one only where all are flat; null outside.
with strict as materialized (
    select
        archive,
        replicate,
        -- Lists in the order of budgets: an ordered list takes seven times as long. DuckDB 1.4 reserves memory for as many as it is told.
        arg_min(cost, budget, (select count(*) from budgets)) as strict_costs,
        arg_min(correct, budget, (select count(*) from budgets)) as strict_corrects,
    from replicate_rule_totals
    where rule = 'strict'
    group by archive, replicate
),
-- An alias of the same select is put in as its expression, again and again: what builds on another column has a select of its own.
placed as (
    select
        advisory.archive,
        advisory.budget as advisory_budget,
        advisory.replicate,
        advisory.replays,
        advisory.cost as advisory_cost,
        advisory.correct as advisory_correct,
        strict.strict_costs,
        strict.strict_corrects,
        len(list_filter(strict_costs, lambda cost: cost < advisory_cost)) as below,
        case
            when below between 1 and len(strict_costs) - 1 then below
            when strict_costs[1] = advisory_cost and strict_costs[-1] > advisory_cost
            then len(list_filter(strict_costs, lambda cost: cost = advisory_cost))
            when strict_costs[1] = advisory_cost and len(strict_costs) > 1 then 1
        end as left_at,
    from replicate_rule_totals as advisory
    inner join strict
        on advisory.archive = strict.archive
        and advisory.replicate = strict.replicate
    where advisory.rule = 'advisory'
),
weighted as (
    select
        *,
        case
            when strict_costs[left_at] < strict_costs[left_at + 1]
            then (advisory_cost - strict_costs[left_at]) / (strict_costs[left_at + 1] - strict_costs[left_at])
            when strict_costs[left_at] = strict_costs[left_at + 1] then 0.0
        end as weight,
    from placed
)
select
    archive,
    advisory_budget,
    replicate,
    replays,
    advisory_cost,
    advisory_correct,
    left_at,
    left_at is null as is_outside,
    weight,
    (1 - weight) * strict_corrects[left_at] + weight * strict_corrects[left_at + 1] as interpolated,
    100 * interpolated / replays as interpolated_accuracy,
    100 * (advisory_correct - interpolated) / replays as delta,
from weighted
