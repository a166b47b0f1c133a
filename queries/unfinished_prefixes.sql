-- Who pays for unfinished prefixes: which problems spend most on attempts that the budget cuts off?
-- $budget =
-- $top = 10
-- An empty $budget means the smallest; $top problems are shown for each archive.
with paid as (
    select
        archive,
        competition,
        question_id,
        count(*) as replays,
        count(*) filter (prefix_cost > 0) as cut_replays,
        sum(prefix_cost) as prefix_cost,
        sum(cost) as cost,
    from replays
    where
        repeat > 0
        and cap = (select value::integer from settings where key = 'primary_cap')
        and rule = 'strict'
        and budget = coalesce(nullif($budget, '')::double, (select min(budget / scale) from budgets, unit))
    group by archive, competition, question_id
)

select
    archive,
    competition,
    question_id,
    coalesce(name, question_id::varchar) as problem,
    replays,
    cut_replays,
    prefix_cost,
    100.0 * prefix_cost / nullif(cost, 0) as percent_of_its_cost,
    100.0 * prefix_cost / nullif(sum(prefix_cost) over everyone, 0)
        as percent_of_all_prefixes,
from paid
left join problem_names using (competition, question_id)
window
    everyone as (partition by archive),
    ranking as (partition by archive order by prefix_cost desc, competition, question_id)
qualify row_number() over ranking <= $top::integer
order by archive, prefix_cost desc, competition, question_id
