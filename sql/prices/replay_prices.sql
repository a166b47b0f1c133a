-- replay_prices: what a replay costs in money on average, prompts included, at prices per million tokens.
-- grain: archive, budget, rule
select
    archives.archive,
    replay_scores.budget,
    rules.rule,
    ($price_input * sum(replay_scores.prompt_cost) + $price_output * sum(replay_scores.completion_cost))
        / sum(replay_scores.replays) / 1000000 as price,
from replay_scores
inner join rules on replay_scores.rule_id = rules.rule_id
inner join caps on replay_scores.cap = caps.cap
inner join banks on replay_scores.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
where caps.is_primary
group by archives.archive, replay_scores.budget, rules.rule
order by archives.archive, replay_scores.budget, rules.rule
