-- ledger_adds_up: an order's cumulative cost is the sum of its attempts' recorded costs, and no
--     slot comes twice
-- grain: one row
with sums as (
    select
        walked_attempts.walk_id,
        max(walked_attempts.cumulative_cost) as cumulative_cost,
        sum(candidates.cost) as recorded_cost,
        count(walked_attempts.slot) as slots,
        count(distinct walked_attempts.slot) as distinct_slots,
    from walked_attempts
    inner join candidates on walked_attempts.candidate_id = candidates.candidate_id
    group by walked_attempts.walk_id
)
select
    count(*) as looked_at,
    count(*) filter (cumulative_cost <> recorded_cost or slots <> distinct_slots) as violations,
from sums
