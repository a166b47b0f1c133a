-- prompts_at_budget: the prompts that an archive's random orders launch under any budget, and how many of them come first.
-- grain: archive, budget
with asked as (
    select distinct
        pair.archive,
        pair.budget,
    from (select unnest($asked) as pair)
)

select
    asked.archive,
    asked.budget,
    count(*) filter (prefixes.position = 1) as replays,
    sum(attempts.prompt_tokens)::bigint as prompt_tokens,
    sum(attempts.prompt_tokens) filter (prefixes.position = 1)::bigint as first_prompt_tokens,
from asked
inner join prefixes
    on asked.archive = prefixes.archive
    and prefixes.cumulative_cost - prefixes.cost < asked.budget
inner join attempts
    on prefixes.archive = attempts.archive
    and prefixes.competition = attempts.competition
    and prefixes.question_id = attempts.question_id
    and prefixes.seed = attempts.seed
where
    prefixes.repeat > 0
    and prefixes.position between 1 and (select cap from caps where is_primary)
group by asked.archive, asked.budget
order by asked.archive, asked.budget
