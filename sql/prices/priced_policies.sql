-- priced_policies: the tokens with a price of an archive's replays that a policy may end.
-- grain: archive, policy, budget, rule
with first_prompts as (
    select
        prefixes.archive,
        prefixes.competition,
        prefixes.question_id,
        prefixes.repeat,
        attempts.prompt_tokens,
    from prefixes
    inner join attempts using (archive, competition, question_id, seed)
    where prefixes.position = 1 and prefixes.repeat > 0
)

select
    policy_replays.archive,
    policy_replays.policy,
    policy_replays.budget,
    policy_replays.rule,
    count(*) as replays,
    sum(policy_replays.prompt_tokens)::bigint as prompt_tokens,
    sum(first_prompts.prompt_tokens)::bigint as first_prompt_tokens,
    sum(policy_replays.cost)::bigint as completion_tokens,
from policy_replays
inner join first_prompts using (archive, competition, question_id, repeat)
group by policy_replays.archive, policy_replays.policy, policy_replays.budget, policy_replays.rule
order by policy_replays.archive, policy_replays.policy, policy_replays.budget, policy_replays.rule
