-- attempts: one recorded generation, generated fields only; slot is the rank of its seed in the bank, from 0.
-- grain: archive, competition, question_id, seed
select
    archive,
    competition,
    question_id,
    seed,
    (row_number() over bank - 1)::integer as slot,
    prompt_tokens,
    completion_tokens,
    finish_reason,
    answer,
    archive_answer,
    mean_logprob,
    eligible,
    -- What a file says of an attempt and nothing here looks at, in the order of the table.
    carried.*,
from incoming
window bank as (partition by archive, competition, question_id order by seed)
order by archive, competition, question_id, seed
