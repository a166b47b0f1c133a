-- labels_all_equal: labelled attempts, counted where all of an archive have the same label.
-- grain: archive
select
    archive,
    if(min(correct) = max(correct), count(correct), 0) as count,
    count(correct) as total,
from labels
group by archive
