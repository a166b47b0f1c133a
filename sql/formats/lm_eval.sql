-- lm_eval: a repeat of a document of lm-evaluation-harness (samples_TASK_TIME.jsonl, the model in the
--     results_TIME.json beside it); each filter repeats a document's responses, of which the first line counts.
-- grain: archive, competition, question_id, seed
-- title: lm-evaluation-harness samples
-- recognized by: doc_id resps filtered_resps
-- beside: results=results_*.json
-- absent: completion_tokens=lm-eval records none; finish_reason=lm-eval records none; correct=lm-eval grades only what a filter leaves
with documents as (
    select
        *,
        regexp_extract(
            parse_filename(filename),
            '^samples_(.+)_(\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(?:\.gz)?$',
            ['task', 'time']
        ) as name,
        row_number() over document > 1 as is_repeated,
        first_value(record ->> '$.resps') over document is distinct from record ->> '$.resps' as is_other,
    from records
    window document as (
        partition by
            record ->> '$.doc_id',
            coalesce(record ->> '$.doc_hash', record ->> '$.doc')
        order by number
    )
),
repeats as (
    select
        *,
        unnest(range(if(is_repeated, 1, json_array_length(record, '$.resps[0]'))::bigint)) as position,
    from documents
)
select
    number,
    position,
    record,
    (beside.results -> ('results_' || name.time || '.json')) ->> '$.model_name' as archive,
    nullif(name.task, '') as competition,
    record -> '$.doc_id' as question_id,
    position as seed,
    (record -> '$.resps[0]') -> position as text,
    -- Where a task grades every repeat; its one `exact_match` is the document's.
    (record -> '$.extracted_answers') -> position as archive_answer,
    (record -> '$.exact_matches') -> position as correct,
    record -> '$.target' as "references",
    if(is_repeated, 'lines repeat a document for another filter: left out', null) as left_out,
    case
        when json_type(record, '$.resps[0][0]') = 'ARRAY'
            then 'holds log-likelihoods of choices: nothing was generated'
        when is_other then 'doc_id ' || (record ->> '$.doc_id') || ' occurs with other responses'
        when json_array_length(record, '$.exact_matches') <> json_array_length(record, '$.resps[0]')
            then 'one item for each attempt is needed, but exact_matches has '
                || json_array_length(record, '$.exact_matches')
    end as wrong,
from repeats
cross join beside
order by number, position
