-- page_counts: how often a bootstrap replicate draws each problem, in ascending problem_id.
-- grain: replicate
select
    replicate,
    counts,
from weights
where replicate between 1 and $replicates
order by replicate
