-- cut_checkpoints: a checkpoint that an exit sees of an attempt that is cut off.
-- grain: attempt_id, step
select
    exit_checkpoints.* replace (cut_id as attempt_id),
from exit_checkpoints
inner join exit_cuts
    on exit_checkpoints.attempt_id = exit_cuts.attempt_id
    and exit_checkpoints.step <= exit_cuts.last_step
