-- What share of all tokens are prompts, which every launched attempt pays anew?
select
    archive,
    budget,
    rule,
    count(*) as replays,
    round(sum(launched) / count(*), 2) as launched,
    round(sum(cost) / count(*), 2) as completion_tokens,
    round(sum(prompt_tokens) / count(*), 2) as prompt_tokens,
    round(
        100.0 * sum(prompt_tokens) / nullif(sum(prompt_tokens + cost), 0), 2
    ) as percent_prompts,
from replays
where
    repeat > 0
    and cap = (select value::integer from settings where key = 'primary_cap')
group by archive, budget, rule
order by archive, budget, rule
