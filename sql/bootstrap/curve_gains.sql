-- curve_gains: by how many points the advisory rule is more accurate at a budget of a graded archive's curve; replicate 0 weighs every problem once.
-- grain: archive, budget, replicate
with totals as (
    select
        graded_archives.archive,
        curve_totals.budget,
        list((curve_totals.advisory_correct - curve_totals.strict_correct)::double order by curve_totals.problem_id) as gained,
    from curve_totals
    inner join graded_archives on curve_totals.archive_id = graded_archives.archive_id
    where graded_archives.is_graded
    group by graded_archives.archive, curve_totals.budget
)
select
    totals.archive,
    totals.budget,
    archive_weights.replicate,
    -- Whole numbers divided once: equal fractions give equal numbers.
    100 * list_dot_product(archive_weights.counts, totals.gained)
        / (archive_weights.draws * (select max(repeat) from repeats)) as delta,
from totals
inner join archive_weights on totals.archive = archive_weights.archive
