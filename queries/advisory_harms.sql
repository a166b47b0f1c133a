-- In which replays does letting the last attempt finish turn a correct answer into a wrong one?
select
    strict.archive,
    strict.competition,
    strict.question_id,
    coalesce(problem_names.name, strict.question_id::varchar) as problem,
    strict.repeat,
    strict.budget,
    strict.answer as strict_answer,
    advisory.answer as advisory_answer,
    strict.seed as strict_seed,
    advisory.seed as advisory_seed,
    advisory.repaired_correct as is_right_after_repair,
from selections as strict
inner join selections as advisory
    using (archive, competition, question_id, repeat, cap, budget, selector)
left join problem_names using (competition, question_id)
where
    strict.rule = 'strict'
    and advisory.rule = 'advisory'
    and strict.correct
    and not advisory.correct
    and strict.repeat > 0
    and strict.cap = (select value::integer from settings where key = 'primary_cap')
    and strict.selector = (select value from settings where key = 'primary_selector')
order by strict.archive, strict.competition, strict.question_id, strict.repeat, strict.budget
