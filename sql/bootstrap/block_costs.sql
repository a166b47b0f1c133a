-- block_costs: what every problem's walks cost at the start of a block, as lists by problem: how
--     many of its walks go on from there, and what is paid, in two parts that have exact doubles.
-- grain: block
with sums as (
    select
        archive,
        block,
        walk.problem as problem,
        sum(walk.orders) as orders,
        sum(walk.orders * walk.whole_cost::hugeint) as cost,
    from (select archive, block, unnest(walks) as walk from walk_blocks)
    group by archive, block, walk.problem
),
paid as (
    select
        walk_blocks.block,
        problems.problem,
        problems.orders - coalesce(sum(sums.orders) over before, 0) as still_open,
        (coalesce(sum(sums.cost) over before, 0) + still_open * walk_blocks.start)::hugeint as cost,
    from walk_blocks
    inner join (select archive, problem, sum(orders) as orders from sums group by archive, problem) as problems
        on walk_blocks.archive = problems.archive
    left join sums
        on walk_blocks.block = sums.block
        and problems.problem = sums.problem
    window before as (
        partition by walk_blocks.archive, problems.problem order by walk_blocks.block
        rows between unbounded preceding and 1 preceding
    )
)
select
    block,
    list(still_open::double order by problem) as still_open,
    list((cost >> 26)::double order by problem) as high_cost,
    list((cost & 67108863)::double order by problem) as low_cost,
from paid
group by block
