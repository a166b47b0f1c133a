-- pairs: both rules on the same random order, budget and selector: one line for a paired question.
-- grain: archive, competition, question_id, repeat, budget, selector
select
    strict.archive,
    strict.competition,
    strict.question_id,
    coalesce(problems.name, strict.question_id::varchar) as problem,
    strict.repeat,
    strict.budget,
    strict.selector,
    strict.cost as strict_cost,
    advisory.cost as advisory_cost,
    strict.returned as strict_returned,
    advisory.returned as advisory_returned,
    strict.answer as strict_answer,
    advisory.answer as advisory_answer,
    strict.covered as strict_covered,
    advisory.covered as advisory_covered,
    strict.correct as strict_correct,
    advisory.correct as advisory_correct,
    strict.problem_id,
from results as strict
inner join results as advisory
    on strict.problem_id = advisory.problem_id
    and strict.archive = advisory.archive
    and strict.repeat = advisory.repeat
    and strict.budget = advisory.budget
    and strict.selector = advisory.selector
inner join problems on strict.problem_id = problems.problem_id
where strict.rule = 'strict' and advisory.rule = 'advisory'
