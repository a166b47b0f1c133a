-- matching_walks: how many random orders of a problem cost the same to their end at the primary
--     cap, whatever the budget.
-- grain: archive, problem_id, whole_cost
select
    archives.archive,
    banks.problem_id,
    walked_attempts.cumulative_cost as whole_cost,
    count(*) as orders,
from whole_walked as walked_attempts
inner join banks on walked_attempts.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join caps on caps.is_primary
where
    walked_attempts.repeat > 0
    and (walked_attempts.position = caps.cap or (walked_attempts.is_end and walked_attempts.position < caps.cap))
group by archives.archive, banks.problem_id, walked_attempts.cumulative_cost
