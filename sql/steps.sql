-- steps: an order walked attempt by attempt; position 0 is the empty pool, the canonical order runs through the whole bank.
-- grain: bank_id, repeat, position
select
    banks.bank_id,
    order_slots.repeat,
    order_slots.position,
    candidates.slot,
    candidates.completion_tokens as cost,
    (sum(candidates.completion_tokens) over walk)::bigint as cumulative_cost,
    (sum(candidates.prompt_tokens) over walk)::bigint as cumulative_prompt,
    candidates.is_eligible,
    candidates.answer_id,
    candidates.is_archive_eligible,
    candidates.archive_answer_id,
    candidates.logprob_rank,
from order_slots
inner join banks
    on order_slots.problem_id = banks.problem_id
    and order_slots.bank_size = banks.bank_size
inner join candidates
    on banks.bank_id = candidates.bank_id
    and order_slots.slot = candidates.slot
where order_slots.repeat = 0 or order_slots.position <= (select max(cap) from caps)
window walk as (partition by banks.bank_id, order_slots.repeat order by order_slots.position)
union all
select
    banks.bank_id,
    repeats.repeat,
    0 as position,
    null as slot,
    0 as cost,
    0 as cumulative_cost,
    0 as cumulative_prompt,
    false as is_eligible,
    null as answer_id,
    false as is_archive_eligible,
    null as archive_answer_id,
    null as logprob_rank,
from banks
cross join repeats
