-- interval_selectors: the paired accuracy change under every selector, with the ends of its interval.
-- grain: archive, budget, selector
-- totals: paired_gains
-- values: gained
-- intervals: delta low high
select
    *,
    100 * gained / replays as delta,
from replicate_selectors
