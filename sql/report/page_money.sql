-- page_money: what an attempt costs by the prices of the run, in billionths, and where its steps
--     end, in the order in which the page keeps attempts; an attempt of one step has no ends of its
--     own.
-- grain: bank_id, slot
with priced_steps as (
    {% include 'units/unit_money.sql' %}

),

ended_steps as (
    select
        bank_id,
        slot,
        cost,
        (sum(cost) over (partition by bank_id, slot order by step))::bigint as step_end,
        count(*) over (partition by bank_id, slot) as steps,
    from priced_steps
)

select
    bank_id,
    slot,
    greatest(sum(cost), 1)::bigint as money_cost,
    coalesce(list(distinct step_end order by step_end) filter (steps > 1 and step_end > 0), []) as money_step_end,
    len(money_step_end) as money_step_count,
from ended_steps
group by bank_id, slot
order by bank_id, slot
