-- states: what a prefix has cost, and how many of its attempts the primary selector may pick.
-- grain: walk_id, position
select
    steps.walk_id,
    steps.position,
    steps.cumulative_cost,
    (sum(steps.prompt) over prefix)::bigint as cumulative_prompt,
    (count(eligible.slot) over prefix)::integer as eligible_count,
from steps
left join eligible
    on steps.bank_id = eligible.bank_id
    and steps.slot = eligible.slot
window prefix as (partition by steps.walk_id order by steps.position)
