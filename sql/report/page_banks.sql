-- page_banks: one row per bank, in the order in which the page keeps them: its archive, its size, and the
--     places of its problem and of its orders among all of them.
-- grain: bank_id
with problem_places as (
    select
        problem_id,
        row_number() over (order by problem_id) - 1 as place,
    from problems
)
select
    banks.bank_id,
    archives.archive as bank_archive,
    problem_places.place as bank_problem,
    banks.bank_size,
    -- Banks of one problem and one size share their orders.
    dense_rank() over (order by banks.problem_id, banks.bank_size) - 1 as bank_pair,
from banks
inner join archives on banks.archive_id = archives.archive_id
inner join problem_places on banks.problem_id = problem_places.problem_id
qualify $archives is null or list_contains($archives, archives.archive)
order by banks.bank_id
