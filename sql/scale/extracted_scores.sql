-- extracted_scores: a finite score of an extracted attempt, under the key that the attempt has in the run;
--     the mean log-probability is the score logprob.
-- grain: file, place, score
with given as (
    select
        incoming.file,
        incoming.place,
        incoming.archive,
        incoming.competition,
        incoming.question_id,
        unnest(extracted.scores || [{'score': 'logprob', 'value': extracted.mean_logprob}]) as given,
    from incoming
    inner join extracted
        on incoming.file = extracted.file
        and incoming.place = extracted.place
)
select
    file,
    place,
    archive,
    competition,
    question_id,
    given.score,
    given.value,
from given
where isfinite(given.value)
