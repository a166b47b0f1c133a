-- At which problems do the selectors choose different answers from the same pool?
-- $budget =
-- $rule = strict
-- An empty $budget means the largest.
-- Where there are no answers, the chosen attempt stands for its answer.
with choices as (
    select
        *,
        coalesce(answer, 'attempt ' || seed) as choice,
    from selections
),

replay_choices as (
    select
        archive,
        competition,
        question_id,
        repeat,
        list(distinct choice order by choice) filter (choice is not null) as answers,
        count(distinct choice) > 1 as is_split,
        bool_or(correct) and not bool_and(correct) as is_decisive,
    from choices
    where
        repeat > 0
        and cap = (select value::integer from settings where key = 'primary_cap')
        and rule = $rule
        and budget = coalesce(nullif($budget, '')::double, (select max(budget / scale) from budgets, unit))
    group by archive, competition, question_id, repeat
)

select
    archive,
    competition,
    question_id,
    coalesce(any_value(problem_names.name), question_id::varchar) as problem,
    count(*) as replays,
    count(*) filter (is_split) as split_replays,
    sum(is_split::integer * is_decisive::integer)::bigint as split_and_one_is_right,
    array_to_string(list_sort(list_distinct(flatten(list(answers) filter (is_split)))), ' | ')
        as answers,
from replay_choices
left join problem_names using (competition, question_id)
group by archive, competition, question_id
having count(*) filter (is_split) > 0
order by split_replays desc, archive, competition, question_id
