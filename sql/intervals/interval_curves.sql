-- interval_curves: the paired accuracy change where a curve changes, with the ends of its interval,
--     its standard error, and the band of the whole curve.
-- grain: archive, budget
-- totals: curve_gains
-- values: gained
-- intervals: delta low high error
-- band: delta
-- together: archive
select
    archive,
    budget,
    key_id,
    replicate,
    replays,
    -- Whole numbers divided once: equal fractions give equal numbers.
    100 * gained / replays as delta,
from replicate_curves
