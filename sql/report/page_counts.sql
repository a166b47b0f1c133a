-- page_counts: how often a bootstrap replicate draws each problem, in ascending problem_id.
-- grain: replicate
select
    replicate,
    flatten(list(counts order by first_problem)) as weight,
from bootstrap_counts
where replicate between 1 and $replicates
group by replicate
order by replicate
