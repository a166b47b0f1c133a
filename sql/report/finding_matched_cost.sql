-- finding_matched_cost: the budget at which an archive's rules differ most at equal cost, and
--     whether the interval of that excludes zero.
-- grain: archive
select
    *,
    'matched_cost' as source,
    coalesce(delta_low > 0 or delta_high < 0, false) as is_clear,
from matched_cost
where delta is not null
qualify row_number() over (partition by archive order by abs(delta) desc, advisory_budget) = 1
order by archive
