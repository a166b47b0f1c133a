-- interpolation: advisory accuracy against the strict curve read off at the same mean cost by straight lines between its points.
-- grain: archive, advisory_budget
-- Neighbouring strict points by realized cost; the last one starts no segment.
with strict_segments as (
    select
        archive,
        replicate,
        budget as left_budget,
        lead(budget) over by_cost as right_budget,
        strict_cost as left_cost,
        lead(strict_cost) over by_cost as right_cost,
        strict_correct as left_correct,
        lead(strict_correct) over by_cost as right_correct,
    from replicate_pairs
    window by_cost as (partition by archive, replicate order by strict_cost, budget)
    qualify right_budget is not null
),
-- The segment an advisory point falls into: the leftmost rising one, a flat one only where all are flat; null outside.
differences as (
    select
        pairs.archive,
        pairs.budget as advisory_budget,
        pairs.replicate,
        pairs.replays,
        pairs.advisory_cost,
        pairs.advisory_correct,
        strict_segments.left_budget,
        strict_segments.right_budget,
        case
            when strict_segments.left_cost < strict_segments.right_cost
            then (pairs.advisory_cost - strict_segments.left_cost)
                / (strict_segments.right_cost - strict_segments.left_cost)
            when strict_segments.left_cost = strict_segments.right_cost then 0.0
        end as weight,
        (1 - weight) * strict_segments.left_correct + weight * strict_segments.right_correct as interpolated,
        100 * interpolated / pairs.replays as interpolated_accuracy,
        100 * (pairs.advisory_correct - interpolated) / pairs.replays as delta,
    from replicate_pairs as pairs
    left join strict_segments
        on pairs.archive = strict_segments.archive
        and pairs.replicate = strict_segments.replicate
        and pairs.advisory_cost between strict_segments.left_cost and strict_segments.right_cost
    qualify row_number() over (
        partition by pairs.archive, pairs.budget, pairs.replicate
        order by
            strict_segments.left_cost = strict_segments.right_cost,
            strict_segments.left_cost,
            strict_segments.left_budget
    ) = 1
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
