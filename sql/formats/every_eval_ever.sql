-- every_eval_ever: an instance record of Every Eval Ever; attempts in the order of a sample's records. Tokens that
--     a cache read or wrote are added to the prompt where they are counted apart: Anthropic does, and the total tells.
-- grain: archive, competition, question_id, seed
-- title: Every Eval Ever instance records
-- recognized by: evaluation_id sample_id evaluation.is_correct
-- absent: finish_reason=the schema has none
with counted as (
    select
        *,
        try_cast(record ->> '$.token_usage.input_tokens' as bigint) as input,
        coalesce(try_cast(record ->> '$.token_usage.output_tokens' as bigint), 0) as output,
        try_cast(record ->> '$.token_usage.input_tokens_cache_read' as bigint) as cached,
        coalesce(cached, 0) + coalesce(try_cast(record ->> '$.token_usage.input_tokens_cache_write' as bigint), 0) as apart,
        try_cast(record ->> '$.token_usage.total_tokens' as bigint) as total,
    from records
)
select
    number,
    record,
    record ->> '$.model_id' as archive,
    record ->> '$.evaluation_name' as competition,
    record ->> '$.sample_id' as question_id,
    row_number() over (
        partition by record ->> '$.model_id', record ->> '$.evaluation_name', record ->> '$.sample_id'
        order by number
    ) - 1 as seed,
    input + if(
        coalesce(total = input + output + apart, false)
        or (total is distinct from input + output and regexp_matches(record ->> '$.model_id', '(?i)anthropic|claude')),
        apart,
        0
    ) as prompt_tokens,
    cached as cached_tokens,
    try_cast(record ->> '$.token_usage.output_tokens' as bigint) as completion_tokens,
    try_cast(record ->> '$.token_usage.reasoning_tokens' as bigint) as reasoning_tokens,
    try_cast(record ->> '$.performance.latency_ms' as double) / 1000 as "seconds",
    case
        when json_array_length(record, '$.output.raw') > 0 and json_type(record, '$.output.raw') = 'ARRAY'
            then array_to_string((record -> '$.output.raw')::varchar[], chr(10) || chr(10))
        when json_type(record, '$.messages') = 'ARRAY'
            then array_to_string(
                [
                    message ->> '$.content'
                    for message in (record -> '$.messages')::json[]
                    if message ->> '$.role' = 'assistant' and json_type(message, '$.content') = 'VARCHAR'
                ],
                chr(10) || chr(10)
            )
    end as text,
    if(
        json_type(record, '$.answer_attribution') = 'ARRAY',
        [
            answer ->> '$.extracted_value'
            for answer in (record -> '$.answer_attribution')::json[]
            if coalesce(try_cast(answer ->> '$.is_terminal' as boolean), false)
        ][-1],
        null
    ) as archive_answer,
    try_cast(record ->> '$.evaluation.is_correct' as boolean) as correct,
    if(
        json_type(record, '$.input.reference') = 'ARRAY',
        (record -> '$.input.reference')::varchar[],
        [record ->> '$.input.reference']
    ) as "references",
from counted
order by number
