-- checkpoints: what an attempt would have answered after some of its tokens: written in its text, or
--     asked for, which took tokens of its own; the answer is normalized, null where there was none.
-- grain: archive, competition, question_id, seed, tokens, kind
select
    archive,
    competition,
    question_id,
    seed,
    tokens,
    kind,
    answer_forms.answer,
    coalesce(cost, 0) as cost,
    certain,
from incoming_checkpoints
left join answer_forms on incoming_checkpoints.answer = answer_forms.raw_answer
order by archive, competition, question_id, seed, tokens, kind
