-- one_walk: the walk of the attempts that a controller records, as long as attempts are planned.
-- grain: walk_id
select
    0::bigint as walk_id,
    1 as bank_id,
    0 as repeat,
    cap as bank_size,
    1 as archive_id,
    1 as problem_id,
    'live' as archive,
    'live' as competition,
    0::bigint as question_id,
from caps
