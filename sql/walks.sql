-- walks: a bank in one of its orders; walk_id + position numbers the prefixes of all walks, so that one integer joins them.
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
