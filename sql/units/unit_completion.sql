-- unit_completion: the completion tokens of a step.
-- grain: bank_id, slot, step
select
    bank_id,
    slot,
    step,
    completion_tokens::bigint as cost,
from charges
