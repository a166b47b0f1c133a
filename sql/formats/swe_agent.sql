-- swe_agent: a run of SWE-agent (.traj, a file each); tokens and money are recorded for the whole run alone, and the
--     model in its settings, which are JSON in a text. Any exit but submitted is no finished run.
-- grain: archive, competition, question_id, seed
-- title: SWE-agent trajectory
-- recognized by: trajectory info.model_stats
-- suffixes: .traj
-- answers: none
-- absent: archive=its settings name no model; correct=the log grades nothing: --labels FILE names who is right; competition=a trajectory names no benchmark
select
    number,
    record,
    if(
        json_type(record, '$.replay_config') = 'VARCHAR',
        try_cast(record ->> '$.replay_config' as json),
        record -> '$.replay_config'
    ) ->> '$.agent.model.name' as archive,
    regexp_replace(parse_filename(filename), '\.(traj|json)$', '') as question_id,
    0 as seed,
    record -> '$.info.model_stats.tokens_sent' as prompt_tokens,
    record -> '$.info.model_stats.tokens_received' as completion_tokens,
    record -> '$.info.model_stats.instance_cost' as money,
    if(record ->> '$.info.exit_status' = 'submitted', '"stop"'::json, record -> '$.info.exit_status') as finish_reason,
    coalesce(
        nullif(record ->> '$.info.submission', ''),
        turns_of(json_extract(record, '$.trajectory[*]'), '$.response')
    ) as text,
from records
