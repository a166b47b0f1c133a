-- interpolation: advisory accuracy against the strict curve read off at the same mean cost by straight lines between its points.
-- grain: archive, advisory_budget
with differences as (
    select
        *,
        100 * ((1 - weight) * left_correct + weight * right_correct) / replays as interpolated_accuracy,
        100 * (advisory_correct - ((1 - weight) * left_correct + weight * right_correct)) / replays as delta,
    from interpolations
),
intervals as (
    select
        differences.archive_id,
        differences.advisory_budget,
        quantile_cont(differences.delta, 0.025) as delta_low,
        quantile_cont(differences.delta, 0.975) as delta_high,
        count(*) filter (
            differences.left_budget <> point.left_budget or differences.right_budget <> point.right_budget
        ) as switched,
        count(*) filter (differences.left_budget is null) as extrapolated,
    from differences
    inner join differences as point
        on differences.archive_id = point.archive_id
        and differences.advisory_budget = point.advisory_budget
        and point.replicate = 0
    where differences.replicate > 0
    group by differences.archive_id, differences.advisory_budget
)
select
    archives.archive,
    differences.advisory_budget,
    differences.advisory_cost / differences.replays as advisory_cost,
    differences.left_budget,
    differences.right_budget,
    differences.weight,
    100 * differences.advisory_correct / differences.replays as advisory_accuracy,
    differences.interpolated_accuracy,
    differences.delta,
    intervals.delta_low,
    intervals.delta_high,
    coalesce(intervals.switched, 0) as switched,
    coalesce(intervals.extrapolated, 0) as extrapolated,
from differences
inner join archives on differences.archive_id = archives.archive_id
left join intervals
    on differences.archive_id = intervals.archive_id
    and differences.advisory_budget = intervals.advisory_budget
where differences.replicate = 0 and differences.left_budget is not null
order by archives.archive, differences.advisory_budget
