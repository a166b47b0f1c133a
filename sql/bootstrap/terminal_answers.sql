-- terminal_answers: the changes of a terminal's correct answers of the primary selector, at any budget.
-- grain: archive, terminal, problem_id, budget
select
    archive,
    terminal,
    problem_id,
    budget,
    sum(correct_change)::bigint as correct_change,
from (
    select
        matching_answers.*,
        used_terminals.terminal,
    from matching_answers
    cross join used_terminals
    union all by name
    select
        archives.archive,
        terminal_changes.terminal,
        banks.problem_id,
        terminal_changes.budget,
        terminal_changes.correct_change,
    from terminal_changes
    inner join banks on terminal_changes.bank_id = banks.bank_id
    inner join archives on banks.archive_id = archives.archive_id
)
where terminal <> 'forced_after'
group by archive, terminal, problem_id, budget
having sum(correct_change) <> 0
