-- unsettled_archives: an archive of which some attempts of the run have a label and others have none.
-- grain: archive
select archive,
from incoming
group by archive
having sum(labels) between 1 and sum(attempts) - 1
order by archive
