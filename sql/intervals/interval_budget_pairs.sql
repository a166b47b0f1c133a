-- interval_budget_pairs: an advisory budget against a strict budget: differences in accuracy and
--     realized cost, with the ends of their intervals.
-- grain: archive, advisory_budget, strict_budget
-- totals: budget_pairs
-- values: advisory_cost, strict_cost, advisory_total, strict_total, advisory_correct, strict_correct
-- intervals: cost_difference low high; cost_ratio low high; total_difference low high; delta low high
select
    *,
    advisory_cost / replays - strict_cost / replays as cost_difference,
    (advisory_cost / replays) / (strict_cost / replays) as cost_ratio,
    advisory_total / replays - strict_total / replays as total_difference,
    100 * advisory_correct / replays - 100 * strict_correct / replays as delta,
from replicate_budget_pairs
