-- step_ends: where the steps of an attempt of several end, counted from its start; a step that
--     costs nothing ends where the one before it does.
-- grain: bank_id, slot, step_end
-- kept: table
select distinct
    bank_id,
    slot,
    step_end,
from (
    select
        bank_id,
        slot,
        (sum(cost) over (partition by bank_id, slot order by step))::bigint as step_end,
    from step_costs
    where (bank_id, slot) in (select (bank_id, slot) from step_costs where step > 1)
)
where step_end > 0
