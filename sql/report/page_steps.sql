-- page_steps: where the steps of an attempt end, counted from its start, in the order in which the
--     page keeps attempts; an attempt of one step has none of its own.
-- grain: bank_id, slot
select
    candidates.bank_id,
    candidates.slot,
    coalesce(ends.step_ends, []) as step_ends,
    len(coalesce(ends.step_ends, [])) as count,
from candidates
left join (
    select
        bank_id,
        slot,
        list(step_end order by step_end) as step_ends,
    from step_ends
    group by bank_id, slot
) as ends
    on candidates.bank_id = ends.bank_id
    and candidates.slot = ends.slot
where candidates.bank_id in (select unnest($banks::bigint[]))
order by candidates.bank_id, candidates.slot
