-- inspect_summaries: a sample of an Inspect log that was unpacked or published as its summaries.json, with
--     model and task in the header.json beside it; tokens are those of the evaluated model alone.
-- grain: archive, competition, question_id, seed
-- title: Inspect sample summaries
-- recognized by: id epoch scores model_usage
-- beside: header=header.json
-- absent: archive=no header.json beside it names the model; competition=no header.json beside it names the task
with samples as (
    select
        number,
        record,
        beside.header -> '$.eval' as header,
    from records
    cross join beside
),
measured as (
    select
        *,
        record -> '$.model_usage' -> coalesce(header ->> '$.model', json_keys(record, '$.model_usage')[1]) as usage,
        json_keys(record, '$.scores') as scorers,
    from samples
)
select
    number,
    record,
    header ->> '$.model' as archive,
    header ->> '$.task' as competition,
    record ->> '$.id' as question_id,
    record -> '$.epoch' as seed,
    usage -> '$.input_tokens' as prompt_tokens,
    usage -> '$.output_tokens' as completion_tokens,
    first_of(record, ['$.total_time', '$.working_time']) as "seconds",
    case
        when record ->> '$.error' is not null then 'error'
        when record ->> '$.limit' is not null then record ->> '$.limit'
        else 'stop'
    end as finish_reason,
    case
        when len(scorers) = 1 then
            case upper(record -> '$.scores' -> scorers[1] ->> '$.value')
                when 'C' then true
                when '1' then true
                when '1.0' then true
                when 'TRUE' then true
                when 'I' then false
                when 'N' then false
                when '0' then false
                when '0.0' then false
                when 'FALSE' then false
            end
    end as correct,
from measured
order by number
