-- promptfoo: an answer of a provider to a test; where there are several prompts each is an archive of its own.
--     Attempts in the order of a test's results. What came from promptfoo's cache cost nothing and has no count.
-- grain: archive, competition, question_id, seed
-- title: promptfoo results
-- recognized by: evalId results.results results.prompts
-- absent: competition=promptfoo names no benchmark
with answers as (
    select
        answer.value as record,
        answer.key::bigint as number,
        json_array_length(records.record -> '$.results.prompts') > 1 as has_prompts,
        count(distinct answer.value ->> '$.promptIdx') over (partition by answer.value ->> '$.provider.id') as prompts,
    from records
    cross join json_each(records.record -> '$.results.results') as answer
)
select
    number + 1 as number,
    record,
    (record ->> '$.provider.id') || if(prompts > 1, ', prompt ' || (record ->> '$.promptIdx'), '') as archive,
    record ->> '$.testIdx' as question_id,
    row_number() over (
        partition by record ->> '$.provider.id', record ->> '$.promptIdx', record ->> '$.testIdx'
        order by number
    ) - 1 as seed,
    record -> '$.response.tokenUsage.prompt' as prompt_tokens,
    record -> '$.response.tokenUsage.completion' as completion_tokens,
    record -> '$.cost' as money,
    try_cast(record ->> '$.latencyMs' as double) / 1000 as "seconds",
    case
        when record ->> '$.response.finishReason' is not null then record ->> '$.response.finishReason'
        when record ->> '$.response.output' is null then 'error'
        else 'stop'
    end as finish_reason,
    record ->> '$.response.output' as text,
    record -> '$.success' as correct,
from answers
order by number
