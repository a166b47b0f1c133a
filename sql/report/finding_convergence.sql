-- finding_convergence: the budgets from which on an archive's rules stay within 1.5 points of each
--     other; the largest budget alone where they do not.
-- grain: archive, budget
select
    *,
    'main' as source,
    1.5 as threshold,
    max(budget) filter (abs(delta) >= threshold) over (partition by archive) as last_apart,
    max(budget) over (partition by archive) as largest,
    last_apart is not distinct from largest as is_apart,
    coalesce(delta_low <= 0 and delta_high >= 0, false) as is_unclear,
from main
where delta is not null
qualify last_apart is null or budget > last_apart or budget = largest
order by archive, budget
