-- counted_costs: an attempt that a controller records, its cost counted already, as its one step.
-- grain: bank_id, slot, step
select
    1 as bank_id,
    slot,
    1 as step,
    completion_tokens as cost,
from attempts
