-- duplicate_records: attempts with a short text that repeat another of the same problem in text,
--     cost and log-probability, of all short ones with a log-probability.
-- grain: archive
select
    archive,
    sum(texts - different_records)::bigint as count,
    sum(texts)::bigint as total,
from (
    select
        archive,
        count(*) as texts,
        count(distinct (text_hash, completion_tokens, mean_logprob)) as different_records,
    from text_measures
    where text_size < 200 and mean_logprob is not null
    group by archive, competition, question_id
)
group by archive
