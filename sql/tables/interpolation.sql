-- interpolation: advisory accuracy against the strict curve read off at the same mean cost by
--     straight lines between its points.
-- grain: archive, advisory_budget
with numbered as (
    select
        budget,
        row_number() over (order by budget) as place,
    from budgets
)
select
    ladders.archive,
    ladders.advisory_budget,
    ladders.advisory_cost / ladders.replays as advisory_cost,
    left_end.budget as left_budget,
    right_end.budget as right_budget,
    ladders.weight,
    100 * ladders.advisory_correct / ladders.replays as advisory_accuracy,
    ladders.interpolated_accuracy,
    ladders.delta,
    ladders.delta_low,
    ladders.delta_high,
    ladders.left_at_changed::bigint as switched,
    ladders.is_outside_changed::bigint as extrapolated,
from interval_strict_curves as ladders
inner join graded_archives on ladders.archive = graded_archives.archive
inner join numbered as left_end on ladders.left_at = left_end.place
inner join numbered as right_end on ladders.left_at + 1 = right_end.place
where graded_archives.is_graded
order by ladders.archive, ladders.advisory_budget
