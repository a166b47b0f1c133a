-- walk_blocks: the whole costs of an archive's walks in ascending order, 32 to a block, with the
--     place of each one's problem among those of the archive; a block starts at the last cost of
--     the block before, an archive's first one at 0.
-- grain: block
with numbered as (
    select
        *,
        dense_rank() over (partition by archive order by problem_id) as problem,
        (row_number() over (partition by archive order by whole_cost, problem_id) - 1) // 32 as place,
    from matching_walks
)
select
    row_number() over (order by archive, place) as block,
    archive,
    coalesce(lag(max(whole_cost)) over (partition by archive order by place), 0) as start,
    list({'problem': problem, 'whole_cost': whole_cost, 'orders': orders} order by whole_cost, problem) as walks,
from numbered
group by archive, place
