-- curve_points: totals of both rules at a budget of the archive's curve, and what each problem of any archive gains under the advisory rule, in ascending problem_id; null without labels.
-- grain: archive, budget
select
    graded_archives.archive,
    curve_budgets.budget,
    count(curve_totals.bank_id) * (select max(repeat) from repeats) as replays,
    sum(curve_totals.strict_correct) as strict_correct,
    sum(curve_totals.advisory_correct) as advisory_correct,
    sum(curve_totals.strict_covered) as strict_covered,
    sum(curve_totals.advisory_covered) as advisory_covered,
    sum(curve_totals.strict_cost) as strict_cost,
    sum(curve_totals.advisory_cost) as advisory_cost,
    -- As long as `counts` of weights, so that no list has to be picked apart in every replicate.
    case
        when any_value(graded_archives.is_graded)
        then list(
            coalesce(curve_totals.advisory_correct - curve_totals.strict_correct, 0)::double
            order by problems.problem_id
        )
    end as gained,
from curve_budgets
inner join graded_archives on curve_budgets.archive_id = graded_archives.archive_id
cross join problems
left join curve_totals
    on curve_budgets.archive_id = curve_totals.archive_id
    and curve_budgets.budget = curve_totals.budget
    and problems.problem_id = curve_totals.problem_id
group by graded_archives.archive, curve_budgets.budget
