-- steps: a recorded step of an attempt, a model call or turn, from 1; an attempt without steps has no row.
-- grain: archive, competition, question_id, seed, step
select
    archive,
    competition,
    question_id,
    seed,
    step,
    recorded.prompt_tokens,
    recorded.cached_tokens,
    recorded.completion_tokens,
    recorded.money,
    recorded.seconds,
from (
    select
        archive,
        competition,
        question_id,
        seed,
        generate_subscripts(steps, 1) as step,
        unnest(steps) as recorded,
    from incoming
    where len(steps) > 0
)
order by archive, competition, question_id, seed, step
