-- gemini: a candidate of a response, from a batch or a dump; usage counts all candidates of a request together, and
--     thoughts are generated, too.
-- grain: archive, competition, question_id, seed
-- title: Gemini responses
-- recognized by: response.candidates.*.content; candidates.*.content
-- absent: competition=a request names no benchmark; completion_tokens=usage counts the tokens of all candidates of a request together; correct=an API grades nothing
with requests as (
    select
        *,
        if(json_array_length(record, '$.response.candidates') > 0, record -> '$.response', record) as response,
        coalesce(json_array_length(response, '$.candidates'), 0)::bigint as held,
    from records
),
answers as (
    select
        *,
        unnest(range(greatest(held, 1))) as position,
        (response -> '$.candidates') -> position as candidate,
        json_extract(candidate, '$.content.parts[*]') as parts,
        try_cast(response -> '$.usageMetadata.candidatesTokenCount' as bigint) as said,
        try_cast(response -> '$.usageMetadata.thoughtsTokenCount' as bigint) as thought,
    from requests
)
select
    number,
    position,
    record,
    coalesce(first_of(response, ['$.modelVersion', '$.model_version']), record -> '$.model') as archive,
    own_competition(record) as competition,
    coalesce(own_problem(record), first_of(record, ['$.key', '$.custom_id'])) as question_id,
    coalesce(own_attempt(record), candidate -> '$.index', to_json(position)) as seed,
    response -> '$.usageMetadata.promptTokenCount' as prompt_tokens,
    response -> '$.usageMetadata.cachedContentTokenCount' as cached_tokens,
    if(held = 1, said + coalesce(thought, 0), null) as completion_tokens,
    case candidate ->> '$.finishReason'
        when 'STOP' then '"stop"'::json
        when 'MAX_TOKENS' then '"length"'::json
        else candidate -> '$.finishReason'
    end as finish_reason,
    parts_of(to_json([part for part in parts if not coalesce(try_cast(part ->> '$.thought' as boolean), false)]), '$.text') as text,
    parts_of(to_json([part for part in parts if try_cast(part ->> '$.thought' as boolean)]), '$.text') as reasoning,
    own_correct(record) as correct,
    own_references(record) as "references",
    if(held = 0, 'requests failed and hold no attempt: left out', null) as left_out,
from answers
