-- checkpoint_labels: the label that a checkpoint was recorded with; no row where there is none.
-- grain: archive, competition, question_id, seed, tokens, kind
select
    archive,
    competition,
    question_id,
    seed,
    tokens,
    kind,
    correct,
from incoming_checkpoints
where correct is not null
order by archive, competition, question_id, seed, tokens, kind
