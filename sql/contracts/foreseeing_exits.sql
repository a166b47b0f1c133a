-- foreseeing_exits: a checkpoint, and an attempt that an exit treats otherwise when its checkpoints
--     after that one are cut off.
-- grain: cut_id
select
    exit_cuts.last_step,
    archive,
    competition,
    question_id,
    seed,
from exit_cuts
inner join exit_attempts using (attempt_id)
left join exits using (attempt_id)
left join exits_again
    on exit_cuts.cut_id = exits_again.attempt_id
where if(exits.step <= exit_cuts.last_step, exits.step, null) is distinct from exits_again.step
order by exit_cuts.cut_id
