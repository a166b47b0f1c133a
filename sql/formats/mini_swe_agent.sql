-- mini_swe_agent: a run of mini-swe-agent (.traj.json, a file each), its calls of the model as steps; some gateways
--     write an @ before a model's name. Any exit but Submitted is no finished run.
-- grain: archive, competition, question_id, seed
-- title: mini-swe-agent trajectory
-- recognized by: messages info.exit_status info.model_stats
-- suffixes: .traj.json
-- answers: none
-- absent: correct=the log grades nothing: --labels FILE names who is right; competition=a trajectory names no benchmark
with runs as (
    select
        *,
        json_extract(record, '$.messages[*]') as messages,
        to_json([
            step_of(
                message -> '$.extra.response.usage',
                first_of(message, ['$.extra.response.usage.cost', '$.extra.cost']),
                null
            )
            for message in messages if (message -> '$.extra.response.usage') <> 'null'
        ]) as calls,
    from records
)
select
    number,
    record,
    ltrim(
        coalesce(
            record ->> '$.info.config.model.model_name',
            [message ->> '$.extra.response.model' for message in messages if message ->> '$.extra.response.model' <> ''][1]
        ),
        '@'
    ) as archive,
    coalesce(
        record ->> '$.instance_id',
        regexp_replace(parse_filename(filename), '(\.traj)?\.json$', '')
    ) as question_id,
    0 as seed,
    nullif(calls, '[]') as steps,
    total_of(calls, '$.prompt_tokens') as prompt_tokens,
    total_of(calls, '$.completion_tokens') as completion_tokens,
    record -> '$.info.model_stats.instance_cost' as money,
    if(record ->> '$.info.exit_status' = 'Submitted', '"stop"'::json, record -> '$.info.exit_status') as finish_reason,
    coalesce(
        nullif(record ->> '$.info.submission', ''),
        turns_of([message for message in messages if message ->> '$.role' = 'assistant'], '$.content')
    ) as text,
from runs
