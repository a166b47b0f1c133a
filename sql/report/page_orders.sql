-- page_orders: the slots of each random order, up to the largest cap and the last order that the page keeps.
-- grain: problem_id, bank_size, repeat
select
    problem_id,
    bank_size,
    repeat,
    slots[:(select max(cap) from caps)] as slots,
from drawn_orders
where repeat between 1 and $orders
order by problem_id, bank_size, repeat
