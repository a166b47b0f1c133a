-- page_orders: the slots of the random orders, up to the largest cap and the last order that the page
--     keeps, of the banks of one problem and one size.
-- grain: problem_id, bank_size
select
    problem_id,
    bank_size,
    bank_size as pair_size,
    flatten(list(slots[:(select max(cap) from caps)] order by repeat)) as order_slot,
from drawn_orders
where repeat between 1 and $orders
group by problem_id, bank_size
order by problem_id, bank_size
