-- harbor: a trial of Harbor (result.json, a file each), with the agent before the model where a job ran several. Its
--     steps are in the trajectory below it, where they add up to its result; a step takes until the next one begins, tools included.
-- grain: archive, competition, question_id, seed
-- title: Harbor trial result
-- recognized by: task_name trial_name agent_result
-- beside: trajectory=agent/trajectory.json; job=../config.json; trials=../*/
-- answers: none
-- absent: correct=the log grades nothing: --labels FILE names who is right; competition=the trial names no benchmark
with trials as (
    select
        *,
        [
            step for step in json_extract(beside.trajectory, '$.steps[*]') if (step -> '$.metrics') <> 'null'
        ] as steps,
    from records
    cross join beside
),
timed as (
    select
        *,
        [coalesce(record ->> '$.agent_execution.started_at', steps[1] ->> '$.timestamp')]
        || [step ->> '$.timestamp' for step in steps[2:]]
        || [record ->> '$.agent_execution.finished_at'] as times,
    from trials
),
called as (
    select
        *,
        to_json([
            step_of(
                steps[place] -> '$.metrics',
                steps[place] -> '$.metrics.cost_usd',
                seconds_between(times[place], times[place + 1])
            )
            for place in range(1, len(steps) + 1)
        ]) as calls,
    from timed
),
summed as (
    select
        *,
        total_of(calls, '$.prompt_tokens') as prompts,
        total_of(calls, '$.completion_tokens') as completions,
        first_of(record, ['$.agent_info.model_info.name', '$.config.agent.model_name']) ->> '$' as model,
        record ->> '$.agent_info.name' as agent,
        list_unique([
            first_of(ran, ['$.name', '$.import_path']) for ran in json_extract(job, '$.agents[*]')
        ]) as agents,
    from called
),
checked as (
    select
        *,
        len(steps) > 0 and (
            coalesce(prompts <> try_cast(record ->> '$.agent_result.n_input_tokens' as bigint), false)
            or coalesce(completions <> try_cast(record ->> '$.agent_result.n_output_tokens' as bigint), false)
        ) as is_other_sum,
    from summed
)
select
    number,
    record,
    if(agents > 1 and agent <> '' and model <> '', agent || ' ' || model, coalesce(model, agent)) as archive,
    record -> '$.source' as competition,
    record -> '$.task_name' as question_id,
    trial_place(parse_path(filename)[-2], trials) as seed,
    if(is_other_sum, null, nullif(calls, '[]')) as steps,
    coalesce(record -> '$.agent_result.n_input_tokens', 'null'::json) as prompt_tokens,
    coalesce(record -> '$.agent_result.n_cache_tokens', 'null'::json) as cached_tokens,
    coalesce(record -> '$.agent_result.n_output_tokens', 'null'::json) as completion_tokens,
    coalesce(record -> '$.agent_result.cost_usd', 'null'::json) as money,
    seconds_between(
        record ->> '$.agent_execution.started_at', record ->> '$.agent_execution.finished_at'
    ) as "seconds",
    failure_of(record) as finish_reason,
    case
        when (record -> '$.verifier_result.rewards.reward') <> 'null'
            then record -> '$.verifier_result.rewards.reward'
        when failure_of(record) <> 'stop' then 'false'::json
    end as correct,
    if(
        is_other_sum,
        'trials have a trajectory that does not add up to their result: they have no steps',
        null
    ) as note,
from checked
