-- interpolation_points: the strict segment an advisory point falls into: the leftmost rising one, a flat one only where all are flat; null outside.
-- grain: archive, advisory_budget, replicate
select
    paired_points.archive,
    paired_points.budget as advisory_budget,
    paired_points.replicate,
    paired_points.replays,
    paired_points.advisory_cost,
    paired_points.advisory_correct,
    strict_segments.left_budget,
    strict_segments.right_budget,
    case
        when strict_segments.left_cost < strict_segments.right_cost
        then (paired_points.advisory_cost - strict_segments.left_cost)
            / (strict_segments.right_cost - strict_segments.left_cost)
        when strict_segments.left_cost = strict_segments.right_cost then 0.0
    end as weight,
    strict_segments.left_correct,
    strict_segments.right_correct,
from paired_points
left join strict_segments
    on paired_points.archive = strict_segments.archive
    and paired_points.replicate = strict_segments.replicate
    and paired_points.advisory_cost between strict_segments.left_cost and strict_segments.right_cost
qualify row_number() over (
    partition by paired_points.archive, paired_points.budget, paired_points.replicate
    order by
        strict_segments.left_cost = strict_segments.right_cost,
        strict_segments.left_cost,
        strict_segments.left_budget
) = 1
