-- candidates: what selection may know of an attempt, under narrow keys; answer ids and log-probability ranks are per bank.
-- grain: bank_id, slot
select
    banks.bank_id,
    attempts.slot,
    attempts.seed,
    attempts.prompt_tokens,
    attempts.completion_tokens,
    attempts.finish_reason,
    attempts.eligible as is_eligible,
    case when attempts.finish_reason = 'stop' then attempts.archive_answer end is not null as is_archive_eligible,
    attempts.answer,
    attempts.archive_answer,
    dense_rank() over (partition by banks.bank_id order by attempts.answer)::integer as answer_id,
    dense_rank() over (partition by banks.bank_id order by attempts.archive_answer)::integer as archive_answer_id,
    case
        when attempts.eligible and attempts.mean_logprob is not null
        then dense_rank() over (partition by banks.bank_id order by attempts.mean_logprob nulls first)
    end::integer as logprob_rank,
from attempts
inner join archives using (archive)
inner join problems using (competition, question_id)
inner join banks using (archive_id, problem_id)
