-- tau_bench: a run of tau-bench, with its messages and reward, and no usage.
-- grain: archive, competition, question_id, seed
-- title: tau-bench results
-- recognized by: task_id reward traj
-- answers: none
-- absent: archive=results name no model; competition=results name no benchmark; completion_tokens=tau-bench records no usage; finish_reason=tau-bench records none
select
    number,
    record,
    record -> '$.task_id' as question_id,
    record -> '$.trial' as seed,
    turns_of(
        [turn for turn in json_extract(record, '$.traj[*]') if turn ->> '$.role' = 'assistant'],
        '$.content'
    ) as text,
    record -> '$.reward' as correct,
from records
