-- orders: the slot at every position of an order; repeat 0 is the canonical order.
-- grain: competition, question_id, bank_size, repeat, position
select
    problems.competition,
    problems.question_id,
    order_slots.bank_size,
    order_slots.repeat,
    unnest(range(1, order_slots.bank_size + 1))::integer as position,
    unnest(order_slots.slots)::integer as slot,
from order_slots
inner join problems on order_slots.problem_id = problems.problem_id
