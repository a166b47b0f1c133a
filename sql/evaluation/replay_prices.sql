-- replay_prices: what a replay costs in money on average, prompts included, at prices per million tokens.
-- grain: archive, budget, rule
select
    archive,
    budget,
    rule,
    ($price_input * sum(prompt_cost) + $price_output * sum(completion_cost)) / sum(replays) / 1000000 as price,
from problem_costs
group by archive, budget, rule
order by archive, budget, rule
