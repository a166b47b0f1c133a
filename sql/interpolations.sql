-- interpolations: the strict segment an advisory point falls into: the leftmost rising one, a flat one only where all are flat; null outside.
-- grain: archive_id, advisory_budget, replicate
select
    paired_costs.archive_id,
    paired_costs.budget as advisory_budget,
    paired_costs.replicate,
    paired_costs.replays,
    paired_costs.advisory_cost,
    paired_scores.advisory_correct,
    segments.left_budget,
    segments.right_budget,
    case
        when segments.left_cost < segments.right_cost
        then (paired_costs.advisory_cost - segments.left_cost) / (segments.right_cost - segments.left_cost)
        when segments.left_cost = segments.right_cost then 0.0
    end as weight,
    segments.left_correct,
    segments.right_correct,
from paired_costs
inner join paired_scores
    on paired_costs.archive_id = paired_scores.archive_id
    and paired_costs.budget = paired_scores.budget
    and paired_costs.replicate = paired_scores.replicate
inner join selectors on paired_scores.selector_id = selectors.selector_id
left join segments
    on paired_costs.archive_id = segments.archive_id
    and paired_costs.replicate = segments.replicate
    and paired_costs.advisory_cost between segments.left_cost and segments.right_cost
where selectors.is_primary
qualify row_number() over (
    partition by paired_costs.archive_id, paired_costs.budget, paired_costs.replicate
    order by segments.left_cost = segments.right_cost, segments.left_cost, segments.left_budget
) = 1
