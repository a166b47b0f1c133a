-- scores: a score of an attempt, larger is better; the mean log-probability is the score logprob.
-- grain: archive, competition, question_id, seed, score
select
    archive,
    competition,
    question_id,
    seed,
    score,
    value,
from recorded_scores
union all
select
    archive,
    competition,
    question_id,
    seed,
    'logprob' as score,
    mean_logprob as value,
from attempts
where mean_logprob is not null
