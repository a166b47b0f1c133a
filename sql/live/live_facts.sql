-- live_facts: a setting that the records of a live run say they were run with, and its value.
-- grain: fact, value
select distinct
    name[6:] as fact,
    origin as value,
from ({% include "load/origins.sql" %})
where starts_with(name, 'live_')
order by fact, value
