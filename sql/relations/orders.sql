-- orders: the slot at every position of an order; repeat 0 is the canonical order.
-- grain: competition, question_id, bank_size, repeat, position
select
    problems.competition,
    problems.question_id,
    drawn_orders.bank_size,
    drawn_orders.repeat,
    unnest(range(1, drawn_orders.bank_size + 1))::integer as position,
    unnest(drawn_orders.slots)::integer as slot,
from drawn_orders
inner join problems on drawn_orders.problem_id = problems.problem_id
