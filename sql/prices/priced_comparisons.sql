-- priced_comparisons: the tokens with a price of an archive's replays of the problems that another archive has too.
-- grain: archive, other, budget, rule
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
),

priced_problems as (
    select
        archive,
        competition,
        question_id,
        budget,
        rule,
        count(*) as replays,
        sum(prompt_tokens)::bigint as prompt_tokens,
        sum(first_prompts.prompt_tokens)::bigint as first_prompt_tokens,
        sum(cost)::bigint as completion_tokens,
    from replays
    inner join caps using (cap)
    inner join first_prompts using (archive, competition, question_id, repeat)
    where caps.is_primary
    group by archive, competition, question_id, budget, rule
)

select
    here.archive,
    there.archive as other,
    here.budget,
    here.rule,
    sum(here.replays)::bigint as replays,
    sum(here.prompt_tokens)::bigint as prompt_tokens,
    sum(here.first_prompt_tokens)::bigint as first_prompt_tokens,
    sum(here.completion_tokens)::bigint as completion_tokens,
from priced_problems as here
inner join priced_problems as there
    on here.competition = there.competition
    and here.question_id = there.question_id
    and here.budget = there.budget
    and here.rule = there.rule
    and here.archive <> there.archive
group by here.archive, there.archive, here.budget, here.rule
order by here.archive, other, here.budget, here.rule
