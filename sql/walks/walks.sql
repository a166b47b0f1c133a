-- walks: a bank in one of its orders, called a walk; walk_id is the prefix_id of its empty prefix, and the prefixes of a walk follow it without a gap.
-- grain: walk_id
select
    (
        ((banks.bank_id - 1)::bigint * (select count(*) from repeats) + repeats.repeat)
        * (select max(bank_size) + 1 from banks)
    )::bigint as walk_id,
    banks.bank_id,
    repeats.repeat,
from banks
cross join repeats
