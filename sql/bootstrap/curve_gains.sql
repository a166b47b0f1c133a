-- curve_gains: how many more random orders of a problem the advisory rule answers correctly, at the
--     first budget of the archive's curve and at every one where that changes at some problem; null
--     without labels.
-- grain: archive, budget, problem_id
with changes as materialized (
    from (
{% include 'bootstrap/curve_changes.sql' %}

    ) as curve_changes
)
select
    budgets.archive,
    budgets.budget,
    problems.problem_id,
    problems.replays,
    sum(changes.gained) over (partition by problems.archive, problems.problem_id order by budgets.budget) as gained,
from (select distinct archive, budget from changes) as budgets
inner join changes as problems
    on budgets.archive = problems.archive
    and problems.is_first
left join changes
    on budgets.archive = changes.archive
    and budgets.budget = changes.budget
    and problems.problem_id = changes.problem_id
