-- label_gaps: an archive without labels, or how its missing labels were settled: counted as
--     incorrect, or their problems left out.
-- grain: archive, gap
with labelled as (
    select
        archive,
        count(*) as attempts,
        count(correct) as labels,
        count(correct) filter (recorded is null) as unrecorded,
    from labels
    group by archive
),
graded as (
    select distinct archive
    from ({% include "load/origins.sql" %})
    where name = 'correct' and origin = 'references'
)
select
    archive,
    if(labels = 0, 'unlabelled', 'wrong') as gap,
    if(labels = 0, attempts, unrecorded) as count,
    attempts as total,
from labelled
anti join graded using (archive)
where labels = 0 or unrecorded > 0
union all
select
    archive,
    'dropped' as gap,
    count,
    total,
from quality_counts
where "check" = 'problems_dropped' and not is_of_replay
order by archive, gap
