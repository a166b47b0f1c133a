-- sampled_walks: a sample of walks, each with its own bank; the attempts after the kept position
--     are cut off or come in another order. A hash chooses walks and positions.
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
    limit 200
),
ordered as (
    select
        chosen.*,
        drawn_orders.slots,
        changes.change,
        -- At least one attempt of the walk comes after those kept.
        (hash(chosen.choice, changes.change) % least(len(drawn_orders.slots), walk_settings.largest_cap))::integer as kept,
    from chosen
    cross join (values ('cut off'), ('in another order')) as changes (change)
    cross join walk_settings
    inner join drawn_orders
        on chosen.problem_id = drawn_orders.problem_id
        and chosen.bank_size = drawn_orders.bank_size
        and chosen.repeat = drawn_orders.repeat
)
select
    walk_id,
    bank_id,
    row_number() over (partition by change order by walk_id)::integer as own_bank_id,
    problem_id,
    bank_size,
    repeat,
    kept,
    change,
    slots[:kept] || case when change = 'cut off' then [] else list_reverse(slots[kept + 1:]) end as slots,
from ordered
order by change, walk_id
