-- page_banks: one row per bank, in the order in which the page keeps them.
-- grain: bank_id
select
    banks.bank_id,
    archives.archive,
    banks.problem_id,
    banks.bank_size,
from banks
inner join archives on banks.archive_id = archives.archive_id
where $archives is null or list_contains($archives, archives.archive)
order by banks.bank_id
