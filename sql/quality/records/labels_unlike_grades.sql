-- labels_unlike_grades: attempts whose label by references is not the recorded one, of those that have both.
-- grain: archive
select
    archive,
    count(*) filter (labels.correct <> labels.recorded) as count,
    count(*) as total,
from labels
inner join (
    select distinct archive
    from ({% include "load/origins.sql" %})
    where name = 'correct' and origin = 'references'
) as graded using (archive)
where labels.correct is not null and labels.recorded is not null
group by archive
