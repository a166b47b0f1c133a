-- kink_walks: the walks of a problem that end at the same cost, and the last of strict_kinks below it; place is the problem's among those of the archive.
-- grain: archive_id, whole_cost, place
select
    ends.archive_id,
    strict_kinks.budget as kink,
    ends.whole_cost,
    ends.place,
    ends.walks,
from (
    select
        archive_id,
        whole_cost,
        dense_rank() over (partition by archive_id order by problem_id) as place,
        count(*) as walks,
    from whole_costs
    group by archive_id, problem_id, whole_cost
) as ends
asof join strict_kinks
    on ends.archive_id = strict_kinks.archive_id
    and ends.whole_cost > strict_kinks.budget
