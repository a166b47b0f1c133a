-- curves: accuracy, coverage and realized cost of every rule over the budgets, each with its own interval.
-- grain: archive, budget, rule
select
    archive,
    budget,
    rule,
    accuracy,
    accuracy_low,
    accuracy_high,
    coverage,
    coverage_low,
    coverage_high,
    cost / replays as cost,
    cost_ratio,
    cost_ratio_low,
    cost_ratio_high,
from interval_rule_totals
order by archive, budget, rule
