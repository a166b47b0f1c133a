-- story: the smallest budget at which strict loses at most 5 points against no budget, of the archive
--     whose rules differ most there; else the archive and budget at which they differ most. Strict
--     at the cost of advisory there, the largest budget of that archive, and two archives whose
--     order under strict turns round between two budgets, most clearly.
-- grain: archive, budget
with graded as (
    select
        main.*,
        dense_rank() over (order by main.archive) as place,
        -- Of an archive's budgets that lose little, a person would set the smallest.
        coalesce(spending.lost <= 5 and main.budget = min(main.budget) filter (spending.lost <= 5) over (partition by main.archive), false) as is_near,
    from main
    left join spending
        on main.archive = spending.archive
        and main.budget = spending.budget
        and spending.rule = 'strict'
    where main.delta is not null
),
turns as (
    select
        first_small.archive as leader,
        second_small.archive as other,
        first_small.budget as small,
        first_large.budget as large,
        first_small.strict_accuracy as leader_small,
        second_small.strict_accuracy as other_small,
        first_large.strict_accuracy as leader_large,
        second_large.strict_accuracy as other_large,
    from graded as first_small
    inner join graded as first_large on first_small.archive = first_large.archive
    inner join graded as second_small on first_small.budget = second_small.budget
    inner join graded as second_large
        on second_small.archive = second_large.archive
        and first_large.budget = second_large.budget
    where
        first_small.budget < first_large.budget
        -- With many archives, pairs would be too many to go through.
        and first_small.place <= 40
        and second_small.place <= 40
        and least(leader_small - other_small, other_large - leader_large) > 1
    order by
        least(leader_small - other_small, other_large - leader_large) desc,
        leader,
        other,
        small,
        large
    limit 1
)
select
    graded.archive,
    graded.budget,
    graded.is_near,
    graded.strict_accuracy,
    graded.advisory_accuracy,
    graded.advisory_cost_ratio,
    matched_cost.strict_budget as same_cost_budget,
    matched_cost.strict_accuracy as same_cost_accuracy,
    largest.budget as largest_budget,
    largest.delta as largest_delta,
    turns.*,
from graded
left join matched_cost
    on graded.archive = matched_cost.archive
    and graded.budget = matched_cost.advisory_budget
inner join graded as largest on graded.archive = largest.archive
left join turns on true
order by
    graded.is_near desc,
    abs(graded.delta) desc,
    graded.budget,
    graded.archive,
    largest.budget desc
limit 1
