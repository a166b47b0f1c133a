-- interval_terminals: what a terminal answers, and what that is more than terminal none and than the
--     advisory rule at the same budget, with the ends of their intervals.
-- grain: archive, budget, terminal
-- totals: terminal_totals
-- values: correct, none_correct, advisory_correct
-- intervals: accuracy low high; delta low high; advisory_delta low high
select
    *,
    100 * correct / replays as accuracy,
    100 * (correct - none_correct) / replays as delta,
    100 * (correct - advisory_correct) / replays as advisory_delta,
from replicate_terminals
