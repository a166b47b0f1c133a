-- ledger_adds_up: an order's cumulative cost is the sum of its attempts' recorded costs, and no slot comes twice
-- grain: one row
with sums as (
    select
        steps.walk_id,
        max(steps.cumulative_cost) as cumulative_cost,
        sum(candidates.completion_tokens) as recorded_cost,
        count(steps.slot) as slots,
        count(distinct steps.slot) as distinct_slots,
    from steps
    left join candidates
        on steps.bank_id = candidates.bank_id
        and steps.slot = candidates.slot
    group by steps.walk_id
)
select
    count(*) as looked_at,
    count(*) filter (cumulative_cost <> recorded_cost or slots <> distinct_slots) as violations,
from sums
