-- openai: a choice of a chat completion, from a batch, a server's answers or a dump, or an answer of /v1/responses.
--     Usage counts all choices together: for one of several only its log-probabilities tell its tokens.
-- grain: archive, competition, question_id, seed
-- title: OpenAI batch or vLLM run-batch output
-- recognized by: custom_id response error; response.body.choices; response.choices response.usage; response.body.output response.body.status; choices object; output status object usage
-- absent: competition=a request names no benchmark; completion_tokens=usage counts the tokens of all choices of a request together; correct=an API grades nothing
with bodies as (
    select
        *,
        -- A long text is parsed once for a list of paths.
        json_extract(record, ['$.response', '$.response.choices', '$.response.body']) as responses,
        responses[1] is not null as has_response,
        case
            when not has_response then record
            when responses[2] is not null then responses[1]
            else responses[3]
        end as body,
        -- What stands beside the response is short, and asked for often.
        json_merge_patch(record, '{"response": null, "choices": null, "output": null}') as own,
    from records
),
requests as (
    select
        *,
        json_type(body, '$.output') = 'ARRAY' and not json_exists(body, '$.choices') as is_response,
        body -> '$.usage' as usage,
    from bodies
),
held as (
    select
        *,
        case
            when not is_response then json_extract(body, '$.choices[*]')
            when body ->> '$.status' in ('completed', 'incomplete') then ['{"index": 0}'::json]
        end as choices,
        coalesce(len(choices), 0) as held,
        first_of(usage, ['$.completion_tokens', '$.output_tokens']) as generated,
    from requests
),
answers as (
    select
        *,
        unnest(range(greatest(held, 1))) as position,
        [
            if(json_type(choice, '$.logprobs.content') = 'ARRAY', json_array_length(choice, '$.logprobs.content'), null)
            for choice in choices
        ] as logged,
        if(is_response, parts_of(content_of(body, 'message'), '$.text'), null) as said,
        if(is_response, parts_of(content_of(body, 'reasoning'), '$.text'), null) as thought,
        coalesce(
            body ->> '$.incomplete_details.reason', if(is_response, body ->> '$.status', null)
        ) as ended,
    from held
),
attempts as (
    select
        *,
        json_extract(
            choices[position + 1],
            [
                '$.index', '$.finish_reason', '$.logprobs.content', '$.message.content', '$.text',
                '$.message.reasoning_content', '$.message.reasoning',
            ]
        ) as choice,
        if(is_response, to_json(ended), choice[2]) as reason,
    from answers
)
select
    number,
    position,
    record,
    body -> '$.model' as archive,
    own_competition(own) as competition,
    request_problem(own, has_response) as question_id,
    coalesce(
        if(held = 1 or request_name(own) is not null, request_attempt(own), null),
        choice[1],
        to_json(position)
    ) as seed,
    first_of(usage, ['$.prompt_tokens', '$.input_tokens']) as prompt_tokens,
    first_of(
        usage, ['$.prompt_tokens_details.cached_tokens', '$.input_tokens_details.cached_tokens']
    ) as cached_tokens,
    first_of(
        usage,
        ['$.completion_tokens_details.reasoning_tokens', '$.output_tokens_details.reasoning_tokens']
    ) as reasoning_tokens,
    if(held = 1 and not is_response, usage -> '$.total_tokens', null) as total_tokens,
    if(held = 1 and not is_response, usage -> '$.cost', null) as money,
    case
        when held = 1 then generated
        when list_count(logged) = held and coalesce(list_sum(logged) = try_cast(generated as bigint), true)
            then to_json(logged[position + 1])
    end as completion_tokens,
    case
        when reason ->> '$' in ('eos_token', 'stop_sequence', 'completed') then '"stop"'::json
        when is_response and reason ->> '$' in ('max_output_tokens', 'max_tokens') then '"length"'::json
        else reason
    end as finish_reason,
    if(is_response, to_json(coalesce(said, '')), first_in(choice[4:5])) as text,
    mean_logprob(choice[3]) as mean_logprob,
    if(
        is_response,
        to_json(thought),
        first_in(choice[6:7])
    ) as reasoning,
    own_correct(own) as correct,
    own_references(own) as "references",
    if(held = 0, 'requests failed and hold no attempt: left out', null) as left_out,
from attempts
