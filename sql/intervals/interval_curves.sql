-- interval_curves: the paired accuracy change where a curve changes, with the ends of its interval, its standard error, and how far a replicate strays anywhere on the curve.
-- grain: archive, budget
select
    *,
    -- Whole numbers divided once: equal fractions give equal numbers.
    100 * gained / replays as delta,
from replicate_curves
