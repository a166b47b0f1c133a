-- walked_attempts: a walk attempt by attempt up to the largest cap, with what selection may know;
--     the canonical order goes through the whole bank, position 0 is the empty prefix.
-- grain: prefix_id
with placed as (
    select
        walk_id,
        bank_id,
        unnest(list_prepend(null, slots)) as slot,
        unnest(range(len(slots) + 1))::integer as position,
        -- A bank's size that goes through the join below makes DuckDB 2.0 fail where there are a million attempts.
        unnest(list_apply(range(len(slots) + 1), lambda length: length = bank_size)) as is_end,
    from (
        select
            walks.walk_id,
            walks.bank_id,
            walks.bank_size,
            case
                when walks.repeat = 0 then drawn_orders.slots
                else drawn_orders.slots[:(select largest_cap from walk_settings)]
            end as slots,
        from walks
        inner join drawn_orders
            on walks.problem_id = drawn_orders.problem_id
            and walks.bank_size = drawn_orders.bank_size
            and walks.repeat = drawn_orders.repeat
        where walks.walk_id between getvariable('first_walk') and getvariable('last_walk')
    )
)
select
    placed.walk_id + placed.position as prefix_id,
    placed.walk_id,
    placed.bank_id,
    placed.position,
    placed.slot,
    coalesce(candidates.cost, 0) as cost,
    (sum(coalesce(candidates.cost, 0)) over walk)::bigint as cumulative_cost,
    (sum(coalesce(candidates.prompt_tokens, 0)) over walk)::bigint as cumulative_prompt,
    placed.is_end,
    coalesce(candidates.is_eligible, false) as is_eligible,
    candidates.answer_id,
    coalesce(candidates.is_archive_eligible, false) as is_archive_eligible,
    candidates.archive_answer_id,
    candidates.logprob_rank,
from placed
left join candidates
    on placed.bank_id = candidates.bank_id
    and placed.slot = candidates.slot
window walk as (partition by placed.walk_id order by placed.position)
