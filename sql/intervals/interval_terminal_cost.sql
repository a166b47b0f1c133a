-- interval_terminal_cost: a terminal at the strict budget that costs as much as an advisory one, with
--     the ends of intervals.
-- grain: archive, terminal, advisory_budget
-- by: key_id
-- intervals: advisory_delta low high
select
    *,
    100 * (correct - advisory_correct) / replays as advisory_delta,
from replicate_terminal_cost
