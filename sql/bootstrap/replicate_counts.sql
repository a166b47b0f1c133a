-- replicate_counts: how often a replicate draws every problem, by problem_id: bootstrap_counts with
--     a row for each replicate.
-- grain: replicate
select
    replicate,
    flatten(list(counts order by first_problem))::double[] as counts,
from bootstrap_counts
group by replicate
