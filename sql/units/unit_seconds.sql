-- unit_seconds: how long a step took, in thousandths of a second.
-- grain: bank_id, slot, step
select
    bank_id,
    slot,
    step,
    floor(1000 * seconds + 0.5)::bigint as cost,
from charges
