-- walks: a bank in one of its orders, with the names of its archive and problem; walk_id leaves room
--     for the positions of a walk, or the answers of a bank, before the next one.
-- grain: walk_id
-- kept: table
select
    (
        ((banks.bank_id - 1)::bigint * (select count(*) from repeats) + repeats.repeat)
        * (select max(bank_size) + 1 from banks)
    )::bigint as walk_id,
    banks.bank_id,
    repeats.repeat,
    banks.bank_size,
    banks.archive_id,
    banks.problem_id,
    archives.archive,
    problems.competition,
    problems.question_id,
from banks
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
cross join repeats
