-- charges: what the steps of every replayed attempt are made of; an attempt without recorded steps
--     is one step with its own counts. A count that is null is 0.
-- grain: bank_id, slot, step
-- `case`, because DuckDB 1.4 does not read a stored `if`.
select
    banks.bank_id,
    attempts.slot,
    coalesce(steps.step, 1) as step,
    coalesce(case when steps.step is null then attempts.prompt_tokens else steps.prompt_tokens end, 0) as prompt_tokens,
    coalesce(case when steps.step is null then attempts.cached_tokens else steps.cached_tokens end, 0) as cached_tokens,
    coalesce(case when steps.step is null then attempts.completion_tokens else steps.completion_tokens end, 0) as completion_tokens,
    case when steps.step is null then attempts.money else steps.money end as money,
    case when steps.step is null then attempts.seconds else steps.seconds end as seconds,
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
