-- priced_replays: the tokens of an archive's replays that have a price: prompts, the first prompts, and completions.
-- grain: archive, budget, rule
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
    replays.archive,
    replays.budget,
    replays.rule,
    count(*) as replays,
    sum(replays.prompt_tokens)::bigint as prompt_tokens,
    sum(first_prompts.prompt_tokens) filter (replays.launched > 0)::bigint as first_prompt_tokens,
    sum(replays.cost)::bigint as completion_tokens,
from replays
inner join caps on replays.cap = caps.cap
inner join first_prompts using (archive, competition, question_id, repeat)
where caps.is_primary
group by replays.archive, replays.budget, replays.rule
order by replays.archive, replays.budget, replays.rule
