-- length_strata: the paired accuracy change and extra cost in each archive's shorter and longer
--     half of problems.
-- grain: archive, stratum, budget
select
    archive,
    stratum,
    budget,
    draws::bigint as problems,
    delta,
    delta_low,
    delta_high,
    extra_cost / replays as extra_cost,
from interval_strata
order by archive, stratum, budget
