-- paths: a walk attempt by attempt up to the largest cap, the canonical order through the whole bank; position 0 is the empty pool.
-- grain: walk_id, position
with placed as (
    select
        problem_id,
        bank_size,
        repeat,
        unnest(list_prepend(null, slots)) as slot,
        unnest(range(len(slots) + 1))::integer as position,
    from (
        select
            problem_id,
            bank_size,
            repeat,
            case when repeat = 0 then slots else slots[:(select max(cap) from caps)] end as slots,
        from order_slots
    )
)
select
    walks.walk_id,
    walks.bank_id,
    walks.repeat,
    placed.position,
    placed.slot,
    coalesce(candidates.completion_tokens, 0) as cost,
    (sum(coalesce(candidates.completion_tokens, 0)) over walk)::bigint as cumulative_cost,
    placed.position = placed.bank_size as is_end,
from placed
inner join banks
    on placed.problem_id = banks.problem_id
    and placed.bank_size = banks.bank_size
inner join walks
    on banks.bank_id = walks.bank_id
    and placed.repeat = walks.repeat
left join candidates
    on banks.bank_id = candidates.bank_id
    and placed.slot = candidates.slot
window walk as (partition by walks.walk_id order by placed.position)
