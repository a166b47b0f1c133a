-- labels_missing: attempts without a recorded label, of all; where references make the labels none
--     is missing.
-- grain: archive
select
    archive,
    count(*) filter (recorded is null and graded.archive is null) as count,
    count(*) as total,
from labels
left join (
    select distinct archive
    from ({% include "load/origins.sql" %})
    where name = 'correct' and origin = 'references'
) as graded using (archive)
group by archive
