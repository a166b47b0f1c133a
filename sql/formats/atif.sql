-- atif: a run in ATIF, the agent trajectory interchange format (a file each); task, reward and how it ended are in the
--     result.json of the trial, in its folder or the one above.
-- grain: archive, competition, question_id, seed
-- title: ATIF trajectory
-- recognized by: schema_version session_id agent.name
-- beside: own=result.json; above=../result.json; siblings=../*/; around=../../*/
-- answers: none
-- absent: correct=the log grades nothing: --labels FILE names who is right; competition=a trajectory names no benchmark; finish_reason=ATIF records none
with runs as (
    select
        *,
        case
            when json_exists(beside.own, '$.trial_name') then beside.own
            when json_exists(beside.above, '$.trial_name') then beside.above
        end as result,
        if(
            json_exists(beside.own, '$.trial_name'),
            trial_place(parse_path(filename)[-2], beside.siblings),
            trial_place(parse_path(filename)[-3], beside.around)
        ) as place,
        to_json([
            step_of(step -> '$.metrics', step -> '$.metrics.cost_usd', null)
            for step in json_extract(record, '$.steps[*]') if (step -> '$.metrics') <> 'null'
        ]) as calls,
    from records
    cross join beside
)
select
    number,
    record,
    first_of(record, ['$.agent.model_name', '$.agent.name']) as archive,
    result -> '$.source' as competition,
    first_of(json_object('task', result -> '$.task_name', 'own', record -> '$.session_id'), ['$.task', '$.own']) as question_id,
    if(result is null, 0, place) as seed,
    nullif(calls, '[]') as steps,
    total_of(calls, '$.prompt_tokens') as prompt_tokens,
    total_of(calls, '$.completion_tokens') as completion_tokens,
    if(result is null, null, failure_of(result)) as finish_reason,
    turns_of(
        [step for step in json_extract(record, '$.steps[*]') if step ->> '$.source' = 'agent'],
        '$.message'
    ) as text,
    result -> '$.verifier_result.rewards.reward' as correct,
from runs
