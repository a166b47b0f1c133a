-- advisory: the budget is checked between attempts; every launched attempt finishes, is returned and is paid in full.
-- grain: bank_id, repeat, cap, budget
select
    bank_id,
    repeat,
    cap,
    budget,
    max(position) filter (cumulative_cost - cost < budget) as launched,
    max(position) filter (cumulative_cost - cost < budget) as returned,
    max(cumulative_cost) filter (cumulative_cost - cost < budget) as completion_cost,
from budgeted_steps
group by bank_id, repeat, cap, budget
