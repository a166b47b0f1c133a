-- vllm: an output of a request of vLLM, dumped as RequestOutput; the problem goes by an id of one's own, or else by the
--     request's. A prompt that comes again under another id is told.
-- grain: archive, competition, question_id, seed
-- title: vLLM RequestOutput dump
-- recognized by: outputs.*.text outputs.*.token_ids
-- absent: archive=vLLM records none; competition=vLLM records none; correct=vLLM grades nothing
with requests as (
    select
        *,
        first_value(record ->> '$.request_id') over (
            partition by hash(record ->> '$.prompt') order by number
        ) <> record ->> '$.request_id' and json_type(record, '$.prompt') = 'VARCHAR' as is_again,
    from records
),
outputs as (
    select
        *,
        unnest(range(json_array_length(record, '$.outputs')::bigint)) as position,
        (record -> '$.outputs') -> position as output,
        try_cast(record ->> '$.metrics.finished_time' as double)
        - try_cast(record ->> '$.metrics.arrival_time' as double) as elapsed,
    from requests
)
select
    number,
    position,
    record,
    first_of(record, ['$.archive', '$.model', '$.model_name', '$.model_id']) as archive,
    own_competition(record) as competition,
    coalesce(
        own_problem(record), own_id(record), first_of(record, ['$.request_id', '$.prompt'])
    ) as question_id,
    coalesce(first_of(output, ['$.seed', '$.index']), to_json(position)) as seed,
    tokens_of(record -> '$.prompt_token_ids') as prompt_tokens,
    record -> '$.num_cached_tokens' as cached_tokens,
    tokens_of(output -> '$.token_ids') as completion_tokens,
    if(elapsed >= 0, elapsed, null) as "seconds",
    output -> '$.finish_reason' as finish_reason,
    output -> '$.text' as text,
    first_of(output, ['$.correct', '$.is_correct']) as correct,
    try_cast(output ->> '$.cumulative_logprob' as double) / nullif(json_array_length(output, '$.token_ids'), 0) as mean_logprob,
    coalesce(own_references(record), record -> '$.gold') as "references",
    if(
        is_again and position = 0,
        'requests repeat a prompt under another id, and count as problems of their own; '
        || 'if they are attempts at one, pass --map question_id=prompt --map seed=@row',
        null
    ) as note,
from outputs
order by number, position
