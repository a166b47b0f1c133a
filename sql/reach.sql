-- reach: how far a replay can lead: an attempt is launched while fewer tokens than the largest budget are spent, or, where costs are made equal, while the budget has units left; a user's own rule may launch any.
-- grain: unit
select
    case when (select bool_and(is_built_in) from rules) then max(budget) end as largest_budget,
    list_reduce(list(budget), lambda a, b: gcd(a, b)) as unit,
    max(budget) // list_reduce(list(budget), lambda a, b: gcd(a, b)) as units,
from budgets
