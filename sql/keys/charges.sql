-- charges: what the steps of every replayed attempt are made of; an attempt without recorded steps is one step with its own counts. A count that is null is 0.
-- grain: bank_id, slot, step
select
    banks.bank_id,
    attempts.slot,
    coalesce(steps.step, 1) as step,
    coalesce(if(steps.step is null, attempts.prompt_tokens, steps.prompt_tokens), 0) as prompt_tokens,
    coalesce(if(steps.step is null, attempts.cached_tokens, steps.cached_tokens), 0) as cached_tokens,
    coalesce(if(steps.step is null, attempts.completion_tokens, steps.completion_tokens), 0) as completion_tokens,
    if(steps.step is null, attempts.money, steps.money) as money,
    if(steps.step is null, attempts.seconds, steps.seconds) as seconds,
from attempts
inner join archives on attempts.archive = archives.archive
inner join problems
    on attempts.competition = problems.competition
    and attempts.question_id = problems.question_id
inner join banks
    on archives.archive_id = banks.archive_id
    and problems.problem_id = banks.problem_id
left join steps
    on attempts.archive = steps.archive
    and attempts.competition = steps.competition
    and attempts.question_id = steps.question_id
    and attempts.seed = steps.seed
