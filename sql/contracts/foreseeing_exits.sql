-- foreseeing_exits: a checkpoint, and an attempt that an exit treats otherwise when its checkpoints
--     after that one are cut off.
-- grain: archive, competition, question_id, seed
select
    cuts.last_step,
    archive,
    competition,
    question_id,
    seed,
from cuts
inner join exit_attempts using (attempt_id)
left join exits using (attempt_id)
left join exits_again using (attempt_id)
where if(exits.step <= cuts.last_step, exits.step, null) is distinct from exits_again.step
order by attempt_id
