-- interval_matches: the advisory rule against the strict rule at the budget where it costs the
--     same, with the ends of intervals.
-- grain: archive, advisory_budget
-- by: key_id
-- intervals: strict_budget low high; delta low high test_low test_high
select
    *,
    100 * (advisory_correct - strict_correct) / replays as delta,
from replicate_matches
