-- strict_levels: the budgets at which the primary selector's strict answers change in a graded archive, and how many are correct from there on, by ascending problem_id.
-- grain: archive, budget
with changes as (
    select
        answer_changes.archive,
        answer_changes.bank_id,
        answer_changes.budget,
        answer_changes.correct_change,
    from answer_changes
    inner join used_selectors on answer_changes.selector = used_selectors.selector
    inner join graded_archives on answer_changes.archive = graded_archives.archive
    where answer_changes.rule = 'strict' and used_selectors.is_primary and graded_archives.is_graded
),
totals as (
    select
        levels.archive,
        levels.budget,
        banks.problem_id,
        sum(coalesce(changes.correct_change, 0)) over (partition by banks.bank_id order by levels.budget) as correct,
    from (select distinct archive, budget from changes) as levels
    inner join archives on levels.archive = archives.archive
    inner join banks on archives.archive_id = banks.archive_id
    left join changes
        on banks.bank_id = changes.bank_id
        and levels.budget = changes.budget
)
select
    archive,
    budget,
    list(correct::double order by problem_id) as correct,
from totals
group by archive, budget
