-- changed_costs: by how much the totals over a problem's random orders change once the budget
--     reaches this one, at the primary cap; slope_change is by how much more the cost grows with
--     the budget from there on.
-- grain: bank_id, rule, budget
select
    bank_id,
    rule,
    budget,
    sum(covered_change)::bigint as covered_change,
    sum(launched_change)::bigint as launched_change,
    sum(cost_change)::bigint as cost_change,
    sum(slope_change)::bigint as slope_change,
from cost_events
group by bank_id, rule, budget
having
    coalesce(sum(covered_change), 0) <> 0
    or sum(launched_change) <> 0
    or sum(cost_change) <> 0
    or sum(slope_change) <> 0
