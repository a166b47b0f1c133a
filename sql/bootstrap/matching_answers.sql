-- matching_answers: the strict changes of the primary selector's correct answers.
-- grain: archive, problem_id, budget
select
    archives.archive,
    banks.problem_id,
    primary_changes.budget,
    primary_changes.correct_change,
from primary_changes
inner join banks on primary_changes.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
where primary_changes.rule = 'strict' and primary_changes.correct_change <> 0
