-- interval_gains: the paired accuracy change of the primary selector, with the ends of its interval
--     and its standard error.
-- grain: archive, budget
-- totals: primary_gains
-- values: gained
-- intervals: delta low high error
select
    *,
    100 * gained / replays as delta,
from replicate_gains
