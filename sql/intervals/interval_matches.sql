-- interval_matches: the advisory rule against the strict rule at the budget where it costs the same, with the ends of intervals.
-- grain: archive, advisory_budget
select
    *,
    100 * (advisory_correct - strict_correct) / replays as delta,
from replicate_matches
