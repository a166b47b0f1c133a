-- problem_curves: by how much the totals of both rules change at one problem, at the first budget
--     of the archive's curve that a change reaches; every problem has a row at the first budget.
--     What needs labels is null without them.
-- grain: archive, budget, problem_id
-- kept: on demand
with changes as (
    select bank_id, rule, budget, correct_change, 0 as covered_change, 0 as cost_change, 0 as slope_change
    from primary_changes
    where rule in ('strict', 'advisory')
    union all
    select bank_id, rule, budget, 0 as correct_change, covered_change, cost_change, slope_change
    from cost_events
    where (event <> 'launched' or cost_change > 0) and rule in ('strict', 'advisory')
),
totals as (
    select
        banks.archive_id,
        banks.problem_id,
        curve_budgets.budget,
        coalesce(sum(changes.correct_change) filter (changes.rule = 'strict'), 0) as strict_correct,
        coalesce(sum(changes.correct_change) filter (changes.rule = 'advisory'), 0) as advisory_correct,
        coalesce(sum(changes.covered_change) filter (changes.rule = 'strict'), 0) as strict_covered,
        coalesce(sum(changes.covered_change) filter (changes.rule = 'advisory'), 0) as advisory_covered,
        -- A strict cost is a straight line between changes: its slope times the budget, less an offset.
        sum(changes.slope_change) as strict_slope,
        sum(changes.slope_change * changes.budget) as strict_offset,
        coalesce(sum(changes.cost_change) filter (changes.rule = 'advisory'), 0) as advisory_cost,
    from changes
    inner join banks on changes.bank_id = banks.bank_id
    asof join curve_budgets
        on banks.archive_id = curve_budgets.archive_id
        and changes.budget <= curve_budgets.budget
    group by banks.archive_id, banks.problem_id, curve_budgets.budget
)
select
    graded_archives.archive,
    totals.problem_id,
    totals.budget,
    (select max(repeat) from repeats) as replays,
    case when graded_archives.is_graded then totals.strict_correct end as strict_correct,
    case when graded_archives.is_graded then totals.advisory_correct end as advisory_correct,
    case when graded_archives.is_graded then totals.advisory_correct - totals.strict_correct end as gained,
    case when graded_archives.is_graded then totals.strict_covered end as strict_covered,
    case when graded_archives.is_graded then totals.advisory_covered end as advisory_covered,
    totals.strict_slope,
    totals.strict_offset,
    totals.advisory_cost,
from totals
inner join graded_archives on totals.archive_id = graded_archives.archive_id
