-- candidate_scores: the scores that selectors of the run read, of the attempts that may be picked:
--     the value, its rank in the bank, and its weights in a vote, in billionths; weight is null
--     below 0 and above 10^6.
-- grain: score, candidate_id
-- kept: table
select
    scores.score,
    candidates.candidate_id,
    candidates.bank_id,
    candidates.slot,
    scores.value,
    dense_rank() over (partition by scores.score, candidates.bank_id order by scores.value)::integer as value_rank,
    case when scores.value between 0 and 1e6 then floor(1e9 * scores.value + 0.5) end::bigint as weight,
    floor(1e9 * exp(scores.value - max(scores.value) over (partition by scores.score, candidates.bank_id)) + 0.5)::bigint
        as exp_weight,
from scores
inner join used_scores on scores.score = used_scores.score
inner join archives on scores.archive = archives.archive
inner join problems
    on scores.competition = problems.competition
    and scores.question_id = problems.question_id
inner join banks
    on archives.archive_id = banks.archive_id
    and problems.problem_id = banks.problem_id
inner join candidates
    on banks.bank_id = candidates.bank_id
    and scores.seed = candidates.seed
where candidates.is_eligible
