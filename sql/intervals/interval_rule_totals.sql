-- interval_rule_totals: accuracy, coverage and realized cost of every rule, with the ends of their intervals.
-- grain: archive, budget, rule
-- totals: rule_totals
-- values: correct, covered, cost
-- intervals: accuracy low high; coverage low high; cost_ratio low high
select
    *,
    100 * correct / replays as accuracy,
    100 * covered / replays as coverage,
    cost / replays / budget as cost_ratio,
from replicate_rule_totals
