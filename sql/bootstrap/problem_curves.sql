-- problem_curves: integer totals of both rules at one problem over its random orders, at every budget of the archive's curve; null without labels.
-- grain: archive, budget, problem_id
select
    archives.archive,
    curve_totals.problem_id,
    curve_totals.budget,
    (select max(repeat) from repeats) as replays,
    curve_totals.strict_correct,
    curve_totals.advisory_correct,
    curve_totals.advisory_correct - curve_totals.strict_correct as gained,
    curve_totals.strict_covered,
    curve_totals.advisory_covered,
    curve_totals.strict_cost,
    curve_totals.advisory_cost,
from curve_totals
inner join archives on curve_totals.archive_id = archives.archive_id
