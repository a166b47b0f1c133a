-- openhands: a run of OpenHands (output.jsonl), its calls of the model as steps, or one step where only their sums are
--     recorded; a run without an error has ended by itself.
-- grain: archive, competition, question_id, seed
-- title: OpenHands output
-- recognized by: instance_id metadata.llm_config metrics
-- answers: none
-- absent: correct=the log grades nothing: --labels FILE names who is right; competition=its metadata name no dataset
with runs as (
    select
        *,
        json_extract(record, '$.metrics.token_usages[*]') as usages,
        json_extract(record, '$.metrics.costs[*].cost') as costs,
        json_extract(record, '$.metrics.response_latencies[*].latency') as latencies,
        case
            when len(usages) > 0 then to_json([
                step_of(
                    usages[place],
                    if(len(costs) = len(usages), costs[place], null),
                    if(len(latencies) = len(usages), latencies[place], null)
                )
                for place in range(1, len(usages) + 1)
            ])
            when json_type(record, '$.metrics.accumulated_token_usage') = 'OBJECT' then to_json([
                step_of(
                    record -> '$.metrics.accumulated_token_usage',
                    record -> '$.metrics.accumulated_cost',
                    null
                ),
            ])
        end as calls,
        nullif(record ->> '$.error', '') as error,
    from records
)
select
    number,
    record,
    record -> '$.metadata.llm_config.model' as archive,
    record -> '$.metadata.dataset' as competition,
    record -> '$.instance_id' as question_id,
    0 as seed,
    calls as steps,
    total_of(calls, '$.prompt_tokens') as prompt_tokens,
    total_of(calls, '$.completion_tokens') as completion_tokens,
    coalesce(left(split_part(error, chr(10), 1), 200), 'stop') as finish_reason,
    coalesce(
        nullif(trim(coalesce(nullif(record ->> '$.test_result.git_patch', ''), record ->> '$.git_patch')), ''),
        turns_of(
            [turn for turn in json_extract(record, '$.history[*]') if turn ->> '$.source' = 'agent'],
            '$.message'
        )
    ) as text,
    first_of(record, ['$.report.resolved', '$.test_result.report.resolved']) as correct,
from runs
