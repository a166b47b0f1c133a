-- finding_grading: the budget at which a repair of labels moves an archive's change most, what the
--     repair did, and whether there are references to repair with.
-- grain: archive
select
    grading.*,
    'grading' as source,
    coalesce(grade_repairs.conflict_groups, 0) as conflict_groups,
    coalesce(grade_repairs.adjusted_labels, 0) as adjusted_labels,
    coalesce(grade_repairs.resolved_groups, 0) as resolved_groups,
    grading.archive in (select archive from referenced_archives) as is_referenced,
    exists (select 1 from referenced_archives) as are_references,
from grading
left join grade_repairs on grading.archive = grade_repairs.archive
qualify row_number() over (partition by grading.archive order by abs(grading.change) desc, grading.budget) = 1
order by grading.archive
