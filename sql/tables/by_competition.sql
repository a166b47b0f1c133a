-- by_competition: the primary selector's accuracy under both rules within each competition.
-- grain: archive, competition, budget
select
    archive,
    competition,
    budget,
    100 * sum(strict_correct) / sum(replays) as strict_accuracy,
    100 * sum(advisory_correct) / sum(replays) as advisory_accuracy,
    100 * sum(gained) / sum(replays) as delta,
from primary_gains
inner join graded_archives using (archive)
where is_graded
group by archive, competition, budget
order by archive, competition, budget
