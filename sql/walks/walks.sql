-- walks: a bank in one of its orders, with the names of its archive and problem; walk_id is the
--     prefix_id of its empty prefix, and the prefixes of a walk follow it without a gap.
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
