-- exit_cuts: an attempt as an exit is asked about it again, under a number of its own, and up to which
--     checkpoint it is then seen: once as far as it leaves, once without that checkpoint, and once half as far.
-- grain: cut_id
select
    row_number() over (order by attempt_id, last_step desc) as cut_id,
    attempt_id,
    last_step,
from (
    select
        attempt_id,
        unnest([seen, seen - 1, (seen - 1) // 2]) as last_step,
    from (
        select
            attempt_id,
            coalesce(any_value(exits.step), count(*)) as seen,
        from exit_checkpoints
        left join exits using (attempt_id)
        group by attempt_id
    )
)
