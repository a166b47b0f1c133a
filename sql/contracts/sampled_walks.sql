-- sampled_walks: some walks, each with a bank of its own, and their attempts in three orders: as
--     they are, cut off after the position kept, and with those after it turned round; a hash
--     chooses walks and positions.
-- grain: walk_id
with chosen as (
    select
        walks.walk_id,
        walks.bank_id,
        walks.repeat,
        banks.problem_id,
        banks.bank_size,
        -- Archives share the orders of a problem.
        hash(banks.problem_id, banks.bank_size, walks.repeat) as choice,
    from walks
    inner join banks on walks.bank_id = banks.bank_id
    order by choice, walks.walk_id
    limit 200
),
ordered as (
    select
        chosen.*,
        drawn_orders.slots,
        -- At least one attempt of the walk comes after those kept.
        (hash(chosen.choice) % least(len(drawn_orders.slots), walk_settings.largest_cap))::integer as kept,
    from chosen
    cross join walk_settings
    inner join drawn_orders
        on chosen.problem_id = drawn_orders.problem_id
        and chosen.bank_size = drawn_orders.bank_size
        and chosen.repeat = drawn_orders.repeat
)
select
    walk_id,
    bank_id,
    row_number() over (order by walk_id)::integer as own_bank_id,
    problem_id,
    bank_size,
    repeat,
    kept,
    slots as whole,
    slots[:kept] as cut,
    slots[:kept] || list_reverse(slots[kept + 1:]) as turned,
from ordered
order by walk_id
