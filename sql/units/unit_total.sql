-- unit_total: the prompt and completion tokens of a step.
-- grain: bank_id, slot, step
select
    bank_id,
    slot,
    step,
    (prompt_tokens + completion_tokens)::bigint as cost,
from charges
