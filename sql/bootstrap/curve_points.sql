-- curve_points: totals of both rules at a budget of the archive's curve, and what each problem gains under the advisory rule, in ascending problem_id; null without labels.
-- grain: archive, budget
select
    graded_archives.archive,
    curve_totals.budget,
    count(*) * (select max(repeat) from repeats) as replays,
    sum(curve_totals.strict_correct) as strict_correct,
    sum(curve_totals.advisory_correct) as advisory_correct,
    sum(curve_totals.strict_covered) as strict_covered,
    sum(curve_totals.advisory_covered) as advisory_covered,
    sum(curve_totals.strict_cost) as strict_cost,
    sum(curve_totals.advisory_cost) as advisory_cost,
    case
        when any_value(graded_archives.is_graded)
        then list((curve_totals.advisory_correct - curve_totals.strict_correct)::double order by curve_totals.problem_id)
    end as gained,
from curve_totals
inner join graded_archives on curve_totals.archive_id = graded_archives.archive_id
group by graded_archives.archive, curve_totals.budget
