-- lighteval: an attempt of a row of lighteval's details, which hold a problem's attempts in lists; the model
--     is in the folders alone (details/MODEL/TIME/details_TASK_TIME.parquet), perhaps with a slash.
-- grain: archive, competition, question_id, seed
-- title: lighteval details
-- recognized by: doc.id model_response.text model_response.output_tokens
-- absent: finish_reason=lighteval records none; correct=lighteval grades problems, not attempts
with attempts as (
    select
        *,
        unnest(range(json_array_length(record, '$.model_response.text')::bigint)) as position,
        case json_type(record, '$.doc.gold_index')
            when 'ARRAY' then json_extract(record, '$.doc.gold_index[*]')
            else [record -> '$.doc.gold_index']
        end as gold,
    from records
)
select
    number,
    position,
    record,
    nullif(regexp_extract(filename, '/details/(.+)/\d{4}-\d\d-\d\dT[^/]*/details_[^/]+$', 1), '') as archive,
    regexp_replace(record ->> '$.doc.task_name', '\|\d+$', '') as competition,
    record -> '$.doc.id' as question_id,
    position as seed,
    json_array_length(record, '$.model_response.input_tokens') as prompt_tokens,
    json_array_length((record -> '$.model_response.output_tokens') -> position) as completion_tokens,
    (record -> '$.model_response.text') -> position as text,
    nullif(
        [
            (record -> '$.doc.choices') ->> place
            for place in [try_cast(place as bigint) for place in gold]
            if place between 0 and json_array_length(record, '$.doc.choices') - 1
        ],
        []
    ) as "references",
from attempts
