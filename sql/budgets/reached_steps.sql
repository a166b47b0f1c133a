-- reached_steps: where the step ends in which the budget runs out, counted from the start of the
--     last launched attempt; an attempt of one step has no row, nor has one that ends within the
--     budget.
-- grain: walk_id, cap, budget
select
    last_launched.walk_id,
    last_launched.cap,
    last_launched.budget,
    min(step_ends.step_end) as step_end,
from last_launched
inner join step_ends
    on last_launched.bank_id = step_ends.bank_id
    and last_launched.slot = step_ends.slot
    and last_launched.budget - (last_launched.cumulative_cost - last_launched.cost) <= step_ends.step_end
group by last_launched.walk_id, last_launched.cap, last_launched.budget
