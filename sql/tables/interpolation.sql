-- interpolation: advisory accuracy against the strict curve read off at the same mean cost by straight lines between its points.
-- grain: archive, advisory_budget
with differences as (
    select
        *,
        100 * ((1 - weight) * left_correct + weight * right_correct) / replays as interpolated_accuracy,
        100 * (advisory_correct - ((1 - weight) * left_correct + weight * right_correct)) / replays as delta,
    from interpolation_points
),
intervals as (
    select
        archive,
        advisory_budget,
        quantile_cont(differences.delta, 0.025) as delta_low,
        quantile_cont(differences.delta, 0.975) as delta_high,
        count(*) filter (
            differences.left_budget <> point.left_budget or differences.right_budget <> point.right_budget
        ) as switched,
        count(*) filter (differences.left_budget is null) as extrapolated,
    from differences
    inner join differences as point using (archive, advisory_budget)
    where differences.replicate > 0 and point.replicate = 0
    group by archive, advisory_budget
)
select
    archive,
    advisory_budget,
    advisory_cost / replays as advisory_cost,
    left_budget,
    right_budget,
    weight,
    100 * advisory_correct / replays as advisory_accuracy,
    interpolated_accuracy,
    delta,
    delta_low,
    delta_high,
    coalesce(switched, 0) as switched,
    coalesce(extrapolated, 0) as extrapolated,
from differences
inner join graded_archives using (archive)
left join intervals using (archive, advisory_budget)
where replicate = 0 and left_budget is not null and is_graded
order by archive, advisory_budget
