-- agreement: leaves at the first checkpoint after which the last N all have an answer, the same one,
--     and none of them says that the model is not sure.
-- grain: attempt_id
-- n: 5
with broken as (
    select
        attempt_id,
        step,
        case
            when answer_id is null or certain is false then step + 1
            when answer_id is distinct from lag(answer_id) over (partition by attempt_id order by step) then step
        end as first_step,
    from exit_checkpoints
),
runs as (
    select
        attempt_id,
        step,
        step + 1 - max(first_step) over (partition by attempt_id order by step rows unbounded preceding) as run_length,
    from broken
)
select
    attempt_id,
    min(step) as step,
from runs
where run_length >= (select n from exit_size)
group by attempt_id
