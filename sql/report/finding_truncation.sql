-- finding_truncation: how many replays begin with an attempt that uses up an archive's largest
--     budget alone, and how many do at its smallest.
-- grain: archive
select
    *,
    'truncation_floor' as source,
    min(budget) over (partition by archive) as first_budget,
    arg_min(capped_first, budget) over (partition by archive) as first_capped,
    arg_min(replays, budget) over (partition by archive) as first_replays,
from truncation_floor
qualify budget = max(budget) over (partition by archive)
order by archive
