-- strict: generation ends at the budget; the attempt that crosses it is charged up to the budget and returns nothing.
-- grain: bank_id, repeat, cap, budget
select
    bank_id,
    repeat,
    cap,
    budget,
    max(position) filter (cumulative_cost - cost < budget) as launched,
    max(position) filter (cumulative_cost <= budget) as returned,
    least(budget, max(cumulative_cost)) as completion_cost,
from budgeted_steps
group by bank_id, repeat, cap, budget
