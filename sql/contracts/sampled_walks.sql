-- sampled_walks: a sample of walks, each with its own bank; the attempts after the kept position
--     are cut off, come in another order, or stay where the walks of one bank alone are left: what
--     is counted over all banks changes then. A hash chooses walks and positions.
-- grain: change, walk_id
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
    limit 100
),
ordered as (
    select
        chosen.*,
        drawn_orders.slots,
        changes.change,
        -- Where something changes, at least one attempt of the walk comes after those kept.
        case
            when changes.change = 'kept as they are' then len(drawn_orders.slots)
            else hash(chosen.choice, changes.change) % least(len(drawn_orders.slots), (select max(cap) from caps))
        end::integer as kept,
    from chosen
    inner join (values ('cut off'), ('in another order'), ('kept as they are')) as changes (change)
        on changes.change <> 'kept as they are'
        or chosen.bank_id = (select arg_min(bank_id, (-bank_size, choice)) from chosen)
    inner join drawn_orders
        on chosen.problem_id = drawn_orders.problem_id
        and chosen.bank_size = drawn_orders.bank_size
        and chosen.repeat = drawn_orders.repeat
)
select
    walk_id,
    bank_id,
    dense_rank() over (order by walk_id)::integer as own_bank_id,
    problem_id,
    bank_size,
    repeat,
    kept,
    change,
    slots[:kept] || case when change = 'cut off' then [] else list_reverse(slots[kept + 1:]) end as slots,
from ordered
order by change, walk_id
