-- evalplus: a sample of evalplus, right where it passes the extended tests, or the base ones where no others
--     were run; attempts in the order of a task's samples.
-- grain: archive, competition, question_id, seed
-- title: evalplus results
-- recognized by: eval hash date
-- absent: archive=evalplus names the model in the file's name alone; completion_tokens=evalplus records none; finish_reason=evalplus records none
select
    number,
    sample.value as record,
    split_part(task.key, '/', 1) as competition,
    task.key as question_id,
    try_cast(sample.key as bigint) as seed,
    sample.value ->> '$.solution' as text,
    lower(coalesce(sample.value ->> '$.plus_status', sample.value ->> '$.base_status')) = 'pass' as correct,
from records
cross join json_each(record -> '$.eval') as task
cross join json_each(task.value) as sample
