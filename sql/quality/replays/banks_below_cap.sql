-- banks_below_cap: problems with fewer attempts than a cap of the run, of all; none where every bank
--     holds one attempt.
-- grain: archive, level
select
    archives.archive,
    caps.cap as level,
    count(*) filter (banks.bank_size < caps.cap and (select max(bank_size) from banks) > 1) as count,
    count(*) as total,
from banks
inner join archives on banks.archive_id = archives.archive_id
cross join caps
group by archives.archive, caps.cap
