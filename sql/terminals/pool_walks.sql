-- pool_walks: the walks that pools are made of, by the walk_id of the pool.
-- grain: walk_id
select
    pools.pool_id as walk_id,
    walks.* exclude (walk_id),
from {{ pools | default('admitted_pools') }} as pools
inner join walks on pools.walk_id = walks.walk_id
