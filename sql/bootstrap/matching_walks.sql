-- matching_walks: what a random order costs to its end at the primary cap, whatever the budget; place numbers the problems of the archive from 0.
-- grain: walk_id
select
    walked_attempts.walk_id,
    archives.archive,
    dense_rank() over (partition by banks.archive_id order by banks.problem_id) - 1 as place,
    walked_attempts.cumulative_cost as whole_cost,
from walked_attempts
inner join walks on walked_attempts.walk_id = walks.walk_id
inner join banks on walked_attempts.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join caps on caps.is_primary
where
    walks.repeat > 0
    and (walked_attempts.position = caps.cap or (walked_attempts.is_end and walked_attempts.position < caps.cap))
