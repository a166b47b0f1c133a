-- one_order: the attempts that a controller records, in the order in which they were made.
-- grain: problem_id, repeat
select
    1 as problem_id,
    bank_size,
    0 as repeat,
    (select list(slot order by slot) from attempts) as slots,
from banks
