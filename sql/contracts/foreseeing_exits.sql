-- foreseeing_exits: an attempt that an exit treats otherwise when its checkpoints after one are cut
--     off, and that checkpoint.
-- grain: attempt_id
select
    attempt_id,
    cuts.last_step,
from cuts
left join exits using (attempt_id)
left join exits_again using (attempt_id)
where if(exits.step <= cuts.last_step, exits.step, null) is distinct from exits_again.step
order by attempt_id
