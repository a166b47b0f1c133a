-- finding_unfinished_prefixes: what share of its cost strict pays for attempts that it cut, at an
--     archive's smallest and largest budget.
-- grain: archive, budget
select
    *,
    'prefix_cost' as source,
    (select min(budget) from prefix_cost) as smallest,
from prefix_cost
where prefix_share is not null
qualify
    budget = min(budget) over (partition by archive)
    or budget = max(budget) over (partition by archive)
order by archive, budget
