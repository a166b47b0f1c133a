-- finding_control_checks: the controls that fail; where none does, how many comparisons agree.
-- grain: control, selector
select
    'all archives' as archive,
    'controls' as source,
    control,
    selector,
    comparisons,
    disagreements,
from controls
where disagreements > 0
union all by name
select
    'all archives' as archive,
    'controls' as source,
    sum(comparisons)::bigint as comparisons,
from controls
having max(disagreements) = 0
order by control, selector
