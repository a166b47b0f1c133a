-- length_strata: the paired accuracy change and extra cost in each archive's shorter and longer half of problems.
-- grain: archive, stratum, budget
with replicates as (
    select
        *,
        100 * gained / replays as delta,
    from replicate_strata
)
select
    archive,
    stratum,
    budget,
    (any_value(draws) filter (replicate = 0))::bigint as problems,
    any_value(delta) filter (replicate = 0) as delta,
    quantile_cont(delta, 0.025) filter (replicate > 0) as delta_low,
    quantile_cont(delta, 0.975) filter (replicate > 0) as delta_high,
    any_value(extra_cost / replays) filter (replicate = 0) as extra_cost,
from replicates
group by archive, stratum, budget
order by archive, stratum, budget
