-- advisory_pays_whole: the advisory rule returns all it launches and pays for no unfinished prefix
-- grain: one row
select
    count(*) as looked_at,
    count(*) filter (returned <> launched or prefix_cost <> 0) as violations,
from replays
where rule = 'advisory'
