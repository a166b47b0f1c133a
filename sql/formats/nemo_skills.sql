-- nemo_skills: a generation of NeMo-Skills (output-rsSEED.jsonl, a line per problem and a file per seed); the
--     benchmark is in the folder that an evaluation makes (eval-results/BENCHMARK). A problem without an id goes by its line.
-- grain: archive, competition, question_id, seed
-- title: NeMo-Skills generations
-- recognized by: generation expected_answer; generation predicted_answer; generation num_generated_tokens
-- absent: archive=NeMo-Skills records none; competition=NeMo-Skills records none; seed=it is in the name of an output-rs*.jsonl
with generations as (
    select
        *,
        first_of(record, ['$.symbolic_correct', '$.is_correct', '$.judgement']) as grade,
        regexp_extract(grade ->> '$', '(?i)judgement:\s*(yes|no)\b', 1) as judgement,
    from records
)
select
    number,
    record,
    nullif(regexp_extract(filename, '/eval-results/([^/]+)/[^/]+$', 1), '') as competition,
    coalesce(record ->> '$.id', number::varchar) as question_id,
    try_cast(regexp_extract(parse_filename(filename), '^output-rs(\d+)\.jsonl(?:\.gz)?$', 1) as bigint) as seed,
    record -> '$.num_input_tokens' as prompt_tokens,
    record -> '$.num_generated_tokens' as completion_tokens,
    record -> '$.finish_reason' as finish_reason,
    record -> '$.generation_time' as "seconds",
    record -> '$.generation' as text,
    record -> '$.predicted_answer' as archive_answer,
    if(judgement = '', grade, to_json(lower(judgement) = 'yes')) as correct,
    mean_logprob(record -> '$.logprobs') as mean_logprob,
    record -> '$.expected_answer' as "references",
    record -> '$.reasoning_content' as reasoning,
from generations
