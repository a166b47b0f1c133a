-- curve_totals: integer totals of both rules at one problem over its random orders, at every budget of the archive's curve, for the primary selector.
-- grain: bank_id, budget
with changes as (
    select answer_changes.bank_id, rule, budget, correct_change, 0 as covered_change, 0 as cost_change, 0 as slope_change
    from answer_changes
    inner join used_selectors on answer_changes.selector = used_selectors.selector
    where used_selectors.is_primary
    union all
    select bank_id, rule, budget, 0 as correct_change, covered_change, cost_change, slope_change
    from cost_changes
),
-- A change is counted at the first budget of the curve that it reaches, and from there on.
reached as (
    select
        changes.bank_id,
        curve_budgets.budget,
        sum(changes.correct_change) filter (changes.rule = 'strict') as strict_correct,
        sum(changes.correct_change) filter (changes.rule = 'advisory') as advisory_correct,
        sum(changes.covered_change) filter (changes.rule = 'strict') as strict_covered,
        sum(changes.covered_change) filter (changes.rule = 'advisory') as advisory_covered,
        sum(changes.slope_change) as strict_slope,
        sum(changes.slope_change * changes.budget) as strict_offset,
        sum(changes.cost_change) as advisory_cost,
    from changes
    inner join banks on changes.bank_id = banks.bank_id
    asof join curve_budgets
        on banks.archive_id = curve_budgets.archive_id
        and changes.budget <= curve_budgets.budget
    group by changes.bank_id, curve_budgets.budget
)
select
    banks.bank_id,
    banks.archive_id,
    banks.problem_id,
    curve_budgets.budget,
    case when graded_archives.is_graded then coalesce(sum(reached.strict_correct) over curve, 0) end::bigint as strict_correct,
    case when graded_archives.is_graded then coalesce(sum(reached.advisory_correct) over curve, 0) end::bigint as advisory_correct,
    case when graded_archives.is_graded then coalesce(sum(reached.strict_covered) over curve, 0) end::bigint as strict_covered,
    case when graded_archives.is_graded then coalesce(sum(reached.advisory_covered) over curve, 0) end::bigint as advisory_covered,
    (
        coalesce(sum(reached.strict_slope) over curve, 0) * curve_budgets.budget
        - coalesce(sum(reached.strict_offset) over curve, 0)
    )::bigint as strict_cost,
    coalesce(sum(reached.advisory_cost) over curve, 0)::bigint as advisory_cost,
from curve_budgets
inner join banks on curve_budgets.archive_id = banks.archive_id
inner join graded_archives on banks.archive_id = graded_archives.archive_id
left join reached
    on banks.bank_id = reached.bank_id
    and curve_budgets.budget = reached.budget
window curve as (partition by banks.bank_id order by curve_budgets.budget)
