-- scorio: a record of Scorio Trace (meta/TASK/MODEL_KEY.parquet or a saved split), or a nested one. A model alone needs
--     its effort, from the record or the path; NotFound or no box is no answer; a set of values is one reference.
-- grain: archive, competition, question_id, seed
-- title: Scorio records
-- recognized by: data_id seed processed_results.is_correct; data_id seed output.num_completion_tokens; data_id seed num_completion_tokens
-- apart: text
-- absent: competition=neither the records nor the path name one
with places as (
    -- The parts of the path that may name a configuration or a competition: the file and what holds it.
    select
        list_reverse(parse_path(filename))[:4] as parts,
        [
            named
            for named in [competitions_in(part) for part in list_reverse(parse_path(filename))[:4]]
            if len(named) > 0
        ][1] as named,
    from file
),
named as (
    select
        records.*,
        places.parts,
        if(len(places.named) = 1, places.named[1], null) as path_competition,
        first_of(record, ['$.competition', '$.benchmark', '$.dataset', '$.task', '$.data_source']) ->> '$' as task,
        split_part(record ->> '$.model', '/', -1) as model,
        record ->> '$.reasoning_level' as effort,
        first_text(
            record, ['$.model_key', '$.archive', '$.config', '$.model_config', '$.configuration']
        ) as configuration,
        first_of(
            record,
            [
                '$.processed_results.extracted_answer', '$.processed_results.answer',
                '$.processed_results.prediction', '$.processed_results.final_answer',
                '$.processed_results.boxed_answer', '$.extracted_answer', '$.prediction',
            ]
        ) as extracted,
        first_of(record, ['$.processed_results.has_box', '$.has_box']) ->> '$' as has_box,
        literal_of(record -> '$.ground_truth') as truth,
        nullif(first_of(record, ['$.references', '$.ground_truth_accepted']), '[]') as accepted,
        first_of(record, ['$.reference', '$.gold', '$.answer', '$.target']) as reference,
    from records
    cross join places
),
read as (
    select
        *,
        coalesce(
            literal_of(accepted),
            nullif(truth, 'null'),
            literal_of(record -> '$.processed_results.ground_truth'),
            reference
        ) as forms,
    from named
)
select
    number,
    record,
    case
        when configuration is not null then configuration
        when effort in ('minimal', 'low', 'medium', 'high') then model || '_' || effort
        when regexp_matches(model, '(?i)[_-](minimal|low|medium|high)$') then model
        else model || coalesce(
            '_' || [
                lower(found)
                for found in [
                    regexp_extract(
                        part, '(?i)' || regexp_escape(model) || '[_-](minimal|low|medium|high)(?:[^a-z]|$)', 1
                    )
                    for part in parts
                ]
                if found <> ''
            ][1],
            ''
        )
    end as archive,
    coalesce(competition_of(task), task, path_competition) as competition,
    record -> '$.data_id' as question_id,
    record -> '$.seed' as seed,
    first_of(record, ['$.output.finish_reason', '$.finish_reason']) as finish_reason,
    first_of(record, ['$.output.num_completion_tokens', '$.num_completion_tokens']) as completion_tokens,
    first_of(record, ['$.tokens.completion_avg_logprob', '$.completion_avg_logprob']) as mean_logprob,
    first_of(record, ['$.processed_results.is_correct', '$.is_correct']) as correct,
    first_of(
        record,
        [
            '$.output.num_prompt_tokens', '$.tokens.num_prompt_tokens', '$.num_prompt_tokens', '$.prompt_tokens',
        ]
    ) as prompt_tokens,
    coalesce(
        first_of(
            record,
            [
                '$.output.text', '$.output.completion', '$.output.content', '$.output.generated_text',
                '$.output.response', '$.completion', '$.response',
            ]
        ) ->> '$',
        text,
        record ->> '$.generation'
    ) as text,
    case
        when has_box in ('0', 'false') or extracted ->> '$' = 'NotFound' then null
        else to_json(joined(extracted))
    end as archive_answer,
    case
        when record ->> '$.answer_is_set' in ('true', 'True', '1')
            and list_sort(json_extract_string(truth, '$[*]')) = list_sort(json_extract_string(forms, '$[*]'))
            then to_json([joined(truth)])
        when json_type(forms) = 'ARRAY' then to_json([joined(form) for form in json_extract(forms, '$[*]')])
        else forms
    end as "references",
    verified_by(record ->> '$.cv3b_label', record ->> '$.cv3b_prob') as score_cv3b,
    verified_by(record ->> '$.cv7b_label', record ->> '$.cv7b_prob') as score_cv7b,
    first_of(record, ['$.sampling.temperature', '$.output.sampling.temperature', '$.temperature']) as temperature,
    first_of(record, ['$.sampling.top_p', '$.output.sampling.top_p', '$.top_p']) as top_p,
    first_of(record, ['$.sampling.max_tokens', '$.output.sampling.max_tokens', '$.max_tokens']) as max_tokens,
from read
