-- candidates: what selection may know of an attempt, under narrow keys; answer ids and
--     log-probability ranks are per bank. Without answers every attempt is an answer of its own.
--     last_step is what its last step costs. candidate_id is dense, so that a join on it is a lookup.
-- grain: candidate_id
-- kept: table
select
    banks.first_candidate + attempts.slot as candidate_id,
    banks.bank_id,
    attempts.slot,
    attempts.seed,
    attempts.prompt_tokens,
    coalesce(attempts.cached_tokens, 0) as cached_tokens,
    greatest(costs.cost, 1) as cost,
    coalesce(ends.step_ends[1] - ends.step_ends[2], greatest(costs.cost, 1)) as last_step,
    attempts.finish_reason,
    attempts.eligible as is_eligible,
    case when attempts.finish_reason = 'stop' then attempts.archive_answer end is not null as is_archive_eligible,
    attempts.answer,
    attempts.archive_answer,
    case
        when attempts.eligible and attempts.answer is null then attempts.slot + 1
        else dense_rank() over (partition by banks.bank_id order by attempts.answer)
    end::integer as answer_id,
    dense_rank() over (partition by banks.bank_id order by attempts.archive_answer)::integer as archive_answer_id,
    case
        when attempts.eligible and attempts.mean_logprob is not null
        then dense_rank() over (partition by banks.bank_id order by attempts.mean_logprob nulls first)
    end::integer as logprob_rank,
from attempts
inner join archives using (archive)
inner join problems using (competition, question_id)
inner join banks using (archive_id, problem_id)
inner join (
    select
        bank_id,
        slot,
        sum(cost)::bigint as cost,
    from step_costs
    group by bank_id, slot
) as costs
    on banks.bank_id = costs.bank_id
    and attempts.slot = costs.slot
left join (select bank_id, slot, max(step_end, 2) as step_ends from step_ends group by bank_id, slot) as ends
    on banks.bank_id = ends.bank_id
    and attempts.slot = ends.slot
