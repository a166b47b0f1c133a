-- step_ends: where the steps of an attempt of several begin and end, counted from its start, and
--     the prompt tokens of a step with those after it; a step that costs nothing belongs to the one
--     before it, the first ones to the next.
-- grain: bank_id, slot, step_end
-- kept: table
with counted as (
    select
        bank_id,
        slot,
        charges.prompt_tokens,
        charges.cached_tokens,
        (sum(step_costs.cost) over (partition by bank_id, slot order by step))::bigint as step_end,
    from step_costs
    inner join charges using (bank_id, slot, step)
    where (bank_id, slot) in (select (bank_id, slot) from step_costs where step > 1)
)
select
    bank_id,
    slot,
    step_end,
    coalesce(max(step_end) over (steps rows between unbounded preceding and 1 preceding), 0)::bigint as step_begin,
    (sum(sum(prompt_tokens)) over (steps rows between current row and unbounded following))::bigint as prompts_left,
    (sum(sum(cached_tokens)) over (steps rows between current row and unbounded following))::bigint as cached_left,
from counted
where step_end > 0
group by bank_id, slot, step_end
window steps as (partition by bank_id, slot order by step_end)
