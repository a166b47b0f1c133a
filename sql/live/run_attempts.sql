-- run_attempts: an attempt of a run, with what two runs of the same attempts have in common.
-- grain: archive, competition, problem, slot
select
    archive,
    competition,
    coalesce(problem_names.name, question_id::varchar) as problem,
    slot,
    seed,
    completion_tokens,
    finish_reason,
    answer,
from attempts
left join problem_names using (competition, question_id)
order by archive, competition, problem, slot
