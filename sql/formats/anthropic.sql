-- anthropic: a message, in a batch's result, beside fields of one's own, or by itself; tokens of the prompt that a
--     cache read or wrote are counted apart, and are added.
-- grain: archive, competition, question_id, seed
-- title: Anthropic messages
-- recognized by: custom_id result.type; content.*.type stop_reason usage.output_tokens; message.content.*.type message.stop_reason; response.content.*.type response.stop_reason
-- absent: competition=a request names no benchmark; correct=an API grades nothing
with requests as (
    select
        *,
        [
            message
            for message in [record -> '$.result.message', record -> '$.message', record -> '$.response', record]
            if json_type(message, '$.content') = 'ARRAY'
        ][1] as message,
    from records
)
select
    number,
    record,
    message -> '$.model' as archive,
    own_competition(record) as competition,
    request_problem(record, json_exists(record, '$.response')) as question_id,
    coalesce(request_attempt(record), '0'::json) as seed,
    try_cast(message -> '$.usage.input_tokens' as bigint)
    + coalesce(try_cast(message -> '$.usage.cache_read_input_tokens' as bigint), 0)
    + coalesce(try_cast(message -> '$.usage.cache_creation_input_tokens' as bigint), 0) as prompt_tokens,
    message -> '$.usage.cache_read_input_tokens' as cached_tokens,
    message -> '$.usage.output_tokens' as completion_tokens,
    case
        when message ->> '$.stop_reason' in ('end_turn', 'stop_sequence') then '"stop"'::json
        when message ->> '$.stop_reason' = 'max_tokens' then '"length"'::json
        else message -> '$.stop_reason'
    end as finish_reason,
    parts_of(message -> '$.content', '$.text') as text,
    parts_of(message -> '$.content', '$.thinking') as reasoning,
    own_correct(record) as correct,
    own_references(record) as "references",
    if(message is null, 'requests failed and hold no attempt: left out', null) as left_out,
from requests
