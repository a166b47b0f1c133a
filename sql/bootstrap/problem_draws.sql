-- problem_draws: how often a replicate of the bootstrap draws a problem: bootstrap_counts with a
--     row for each count. Replicate 0 draws every problem once.
-- grain: replicate, problem_id
select
    replicate,
    first_problem + generate_subscripts(counts, 1)::integer - 1 as problem_id,
    unnest(counts) as draws,
from bootstrap_counts
