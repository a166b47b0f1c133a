-- grading: the paired accuracy change under source labels and under repaired ones.
-- grain: archive, budget
select
    archive,
    budget,
    100 * sum(gained) / sum(replays) as source_delta,
    100 * sum(repaired_gained) / sum(replays) as repaired_delta,
    100 * (sum(repaired_gained) - sum(gained)) / sum(replays) as change,
from primary_gains
inner join graded_archives using (archive)
where is_graded
group by archive, budget
order by archive, budget
