-- exit_cuts: up to which checkpoint an attempt is seen by an exit that is asked again: once as far as
--     it leaves, once without that checkpoint, and once half as far.
-- grain: world, attempt_id
select
    worlds.world,
    attempt_id,
    case worlds.world
        when 'whole' then coalesce(exits.step, checkpoints)
        when 'before' then coalesce(exits.step, checkpoints) - 1
        else (coalesce(exits.step, checkpoints) - 1) // 2
    end as last_step,
from (
    select
        attempt_id,
        count(*) as checkpoints,
    from exit_checkpoints
    group by attempt_id
) as attempts
left join exits using (attempt_id)
cross join (values ('whole'), ('before'), ('half')) as worlds (world)
