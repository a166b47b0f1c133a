-- matching_archives: what the search for equal costs needs of an archive, as lists: its walks by
--     ascending cost, its strict changes by ascending budget, and its advisory totals by budget and
--     problem.
-- grain: archive
with targets as (
    select
        archive,
        any_value(replays) as orders,
        list(distinct budget order by budget) as budgets,
        list(distinct problem_id order by problem_id) as problem_ids,
        list(cost order by budget, problem_id) as costs,
        list(coalesce(correct, 0) order by budget, problem_id) as corrects,
    from rule_totals
    where rule = 'advisory'
    group by archive
),
ends as (
    select
        archive,
        list(problem_id order by whole_cost, problem_id) as walk_problems,
        list(whole_cost order by whole_cost, problem_id) as walk_costs,
        list(orders order by whole_cost, problem_id) as walk_orders,
    from matching_walks
    group by archive
),
answers as (
    select
        archive,
        list(problem_id order by budget, problem_id) as answer_problems,
        list(budget order by budget, problem_id) as answer_budgets,
        list(correct_change order by budget, problem_id) as answer_changes,
    from matching_answers
    group by archive
)
select
    targets.*,
    ends.* exclude (archive),
    coalesce(answers.answer_problems, []) as answer_problems,
    coalesce(answers.answer_budgets, []) as answer_budgets,
    coalesce(answers.answer_changes, []) as answer_changes,
    graded_archives.is_graded,
from targets
inner join graded_archives on targets.archive = graded_archives.archive
inner join ends on targets.archive = ends.archive
left join answers on targets.archive = answers.archive
