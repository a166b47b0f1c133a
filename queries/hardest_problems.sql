-- Which problems stay without a correct attempt in any pool, even at the largest budget?
with uncovered as (
    select
        archive,
        competition,
        question_id,
        count(*) as replays,
    from replays
    where
        repeat > 0
        and cap = (select value::integer from settings where key = 'primary_cap')
        and budget = (select max(budget / scale) from budgets, unit)
        -- It returns every attempt that is launched: what it does not cover, no rule covers.
        and rule = 'advisory'
    group by archive, competition, question_id
    having not bool_or(covered)
)

select
    uncovered.archive,
    uncovered.competition,
    uncovered.question_id,
    coalesce(any_value(problem_names.name), uncovered.question_id::varchar) as problem,
    uncovered.replays,
    count(*) as attempts_in_bank,
    count(*) filter (attempts.eligible) as eligible_attempts,
    sum(grades.correct::integer)::bigint as correct_attempts,
    median(attempts.completion_tokens) as median_tokens,
from uncovered
inner join attempts using (archive, competition, question_id)
inner join grades using (archive, competition, question_id, seed)
left join problem_names using (competition, question_id)
group by uncovered.archive, uncovered.competition, uncovered.question_id, uncovered.replays
order by uncovered.archive, uncovered.competition, uncovered.question_id
