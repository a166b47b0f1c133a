-- partly_labelled: an archive of which some attempts that come in have a label and others have none.
-- grain: archive
select
    archive,
    count(*) as attempts,
    count(*) - count(correct) as unlabelled,
from incoming
group by archive
having count(correct) between 1 and count(*) - 1
order by archive
