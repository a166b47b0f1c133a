-- verifiers: a rollout of verifiers or prime-rl (results.jsonl, model and environment in the metadata.json
--     beside it); attempts in the order of an example's rows; a reward of 1 is right, of 0 wrong, others no label.
-- grain: archive, competition, question_id, seed
-- title: verifiers or prime-rl rollouts
-- recognized by: example_id prompt completion reward
-- beside: metadata=metadata.json
-- absent: competition=no metadata.json beside it names an environment; archive=no metadata.json beside it names a model
select
    rollouts.number,
    rollouts.record,
    beside.metadata ->> '$.model' as archive,
    coalesce(beside.metadata ->> '$.env_id', rollouts.record ->> '$.task') as competition,
    rollouts.record ->> '$.example_id' as question_id,
    row_number() over (partition by rollouts.record ->> '$.example_id' order by rollouts.number) - 1 as seed,
    first_of(rollouts.record, ['$.token_usage.input_tokens', '$.token_usage.prompt_tokens']) as prompt_tokens,
    first_of(
        rollouts.record, ['$.token_usage.output_tokens', '$.token_usage.completion_tokens']
    ) as completion_tokens,
    case
        when rollouts.record ->> '$.error' is not null then 'error'
        when try_cast(rollouts.record ->> '$.is_truncated' as boolean) then 'length'
        -- A rollout of one turn ends by it; several turns were cut off.
        when rollouts.record ->> '$.stop_condition' = 'max_turns_reached'
            and coalesce(json_array_length(rollouts.record, '$.completion'), 1) > 1 then 'max_turns'
        when rollouts.record ->> '$.is_completed' is not null or rollouts.record ->> '$.stop_condition' is not null then 'stop'
    end as finish_reason,
    if(
        json_type(rollouts.record, '$.completion') = 'VARCHAR',
        rollouts.record ->> '$.completion',
        rollouts.record ->> '$.completion[#-1].content'
    ) as text,
    case try_cast(rollouts.record ->> '$.reward' as double)
        when 1 then true
        when 0 then false
    end as correct,
    [rollouts.record ->> '$.answer'] as "references",
    try_cast(
        first_of(rollouts.record, ['$.timing.generation_ms', '$.generation_ms']) as double
    ) / 1000 as "seconds",
from records as rollouts
cross join beside
order by rollouts.number
