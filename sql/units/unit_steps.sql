-- unit_steps: every step costs one.
-- grain: bank_id, slot, step
select
    bank_id,
    slot,
    step,
    1::bigint as cost,
from charges
