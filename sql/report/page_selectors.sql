-- page_selectors: the selectors of the run, and what each of them votes on.
-- grain: selector_id
select
    selector_id,
    selector,
    is_primary,
    votes_on,
from used_selectors
order by selector_id
