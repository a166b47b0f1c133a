-- one_walk_attempts: walked_attempts of the attempts that a controller records, in the order in
--     which they were made; their costs are counted already.
-- grain: walk_id, position
select
    walks.walk_id,
    walks.bank_id,
    walks.repeat,
    attempts.slot + 1 as position,
    attempts.slot as candidate_id,
    attempts.slot,
    attempts.completion_tokens as cost,
    (sum(attempts.completion_tokens) over walk)::bigint as cumulative_cost,
    (sum(attempts.prompt_tokens) over walk)::bigint as cumulative_prompt,
    attempts.slot + 1 = walks.bank_size as is_end,
    attempts.eligible as is_eligible,
    case
        -- Without an answer every eligible attempt is an answer of its own.
        when attempts.eligible and attempts.answer is null then attempts.slot + 1
        else dense_rank() over (order by attempts.answer)
    end::integer as answer_id,
    attempts.finish_reason = 'stop' and attempts.archive_answer is not null as is_archive_eligible,
    dense_rank() over (order by attempts.archive_answer)::integer as archive_answer_id,
    case
        when attempts.eligible and attempts.mean_logprob is not null
        then dense_rank() over (order by attempts.mean_logprob nulls first)
    end::integer as logprob_rank,
from attempts
cross join walks
window walk as (order by attempts.slot)
