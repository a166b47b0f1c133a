-- interval_strata: the paired accuracy change in each half of an archive's problems, with the ends
--     of its interval.
-- grain: archive, stratum, budget
-- totals: problem_strata
-- values: gained, extra_cost
-- intervals: delta low high
select
    *,
    100 * gained / replays as delta,
from replicate_strata
