-- terminal_bench: a trial of terminal-bench (results.json, with the agent and model in the run_metadata.json
--     beside it); a failure mode other than unset is no finished attempt.
-- grain: archive, competition, question_id, seed
-- title: terminal-bench results
-- recognized by: results n_resolved accuracy
-- beside: run=run_metadata.json
-- absent: archive=no run_metadata.json beside it names the model; text=an agent answers by what it does
select
    number,
    trial.value as record,
    coalesce(beside.run ->> '$.model_name', beside.run ->> '$.agent_name') as archive,
    coalesce(beside.run ->> '$.dataset_name', 'terminal-bench') as competition,
    trial.value ->> '$.task_id' as question_id,
    row_number() over (partition by trial.value ->> '$.task_id' order by trial.key::bigint) - 1 as seed,
    trial.value -> '$.total_input_tokens' as prompt_tokens,
    trial.value -> '$.total_output_tokens' as completion_tokens,
    if(coalesce(trial.value ->> '$.failure_mode', 'unset') in ('unset', 'none'), 'stop', trial.value ->> '$.failure_mode') as finish_reason,
    coalesce(first_of(trial.value, ['$.is_resolved']), 'false'::json) as correct,
    seconds_between(trial.value ->> '$.trial_started_at', trial.value ->> '$.trial_ended_at') as "seconds",
from records
cross join json_each(record -> '$.results') as trial
cross join beside
order by trial.key::bigint
