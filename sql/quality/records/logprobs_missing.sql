-- logprobs_missing: attempts with an answer but without a log-probability, of all with an answer.
-- grain: archive
select
    archive,
    count(*) filter (mean_logprob is null) as count,
    count(*) as total,
from attempts
where eligible
group by archive
