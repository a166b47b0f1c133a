-- What share of all tokens are prompts, which every launched attempt pays anew?
-- The share is empty where the replay counts other costs than completion tokens.
select
    archive,
    budget,
    rule,
    count(*) as replays,
    avg(launched) as launched,
    avg(cost) as cost,
    avg(prompt_tokens) as prompt_tokens,
    case
        when coalesce((select value from settings where key = 'unit'), 'completion') = 'completion'
        then 100.0 * sum(prompt_tokens) / nullif(sum(prompt_tokens + cost), 0)
    end as percent_prompts,
from replays
where
    repeat > 0
    and cap = (select value::integer from settings where key = 'primary_cap')
group by archive, budget, rule
order by archive, budget, rule
