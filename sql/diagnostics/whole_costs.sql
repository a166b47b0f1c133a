-- whole_costs: what a random order costs to its end at the primary cap, whatever the budget.
-- grain: walk_id
select
    walked_attempts.walk_id,
    banks.archive_id,
    banks.problem_id,
    walked_attempts.cumulative_cost as whole_cost,
from walked_attempts
inner join bank_orders on walked_attempts.walk_id = bank_orders.walk_id
inner join banks on walked_attempts.bank_id = banks.bank_id
inner join caps on caps.is_primary
where
    bank_orders.repeat > 0
    and (walked_attempts.position = caps.cap or (walked_attempts.is_end and walked_attempts.position < caps.cap))
