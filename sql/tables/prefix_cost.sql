-- prefix_cost: what the strict rule pays for attempts it cuts off: mean tokens, and their share of all it pays.
-- grain: archive, budget
select
    archives.archive,
    replay_scores.budget,
    sum(replay_scores.prefix_tokens) / sum(replay_scores.replays) as prefix_tokens,
    100 * sum(replay_scores.prefix_tokens) / sum(replay_scores.completion_cost) as prefix_share,
from replay_scores
inner join rules on replay_scores.rule_id = rules.rule_id
inner join caps on replay_scores.cap = caps.cap
inner join banks on replay_scores.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
where rules.rule = 'strict' and caps.is_primary
group by archives.archive, replay_scores.budget
order by archives.archive, replay_scores.budget
