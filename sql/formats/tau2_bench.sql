-- tau2_bench: a simulation of tau2-bench's results, its agent's calls as steps: what the user's model cost is not the
--     agent's. Seconds are the whole run's, tools and the user's turns included; limits and errors are no end.
-- grain: archive, competition, question_id, seed
-- title: tau2-bench results
-- recognized by: info.agent_info info.environment_info
-- answers: none
with simulations as (
    select
        record -> '$.info' as info,
        unnest(json_extract(record, '$.simulations[*]')) as simulation,
        [
            message
            for message in json_extract(simulation, '$.messages[*]')
            if message ->> '$.role' = 'assistant'
        ] as messages,
        to_json([
            step_of(message -> '$.usage', message -> '$.cost', message -> '$.generation_time_seconds')
            for message in messages if (message -> '$.usage') <> 'null'
        ]) as calls,
    from records
)
select
    row_number() over () as number,
    simulation as record,
    info -> '$.agent_info.llm' as archive,
    info -> '$.environment_info.domain_name' as competition,
    simulation -> '$.task_id' as question_id,
    simulation -> '$.trial' as seed,
    nullif(calls, '[]') as steps,
    total_of(calls, '$.prompt_tokens') as prompt_tokens,
    total_of(calls, '$.completion_tokens') as completion_tokens,
    simulation -> '$.duration' as "seconds",
    if(
        simulation ->> '$.termination_reason' in ('user_stop', 'agent_stop'),
        '"stop"'::json,
        simulation -> '$.termination_reason'
    ) as finish_reason,
    turns_of(messages, '$.content') as text,
    simulation -> '$.reward_info.reward' as correct,
from simulations
