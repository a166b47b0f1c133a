-- replicate_costs: weighted totals of an archive at the primary cap, whatever the selector; replicate 0 weighs every problem once.
-- grain: archive_id, budget, rule_id, replicate
select
    banks.archive_id,
    replay_scores.budget,
    replay_scores.rule_id,
    weights.replicate,
    sum(weights.weight * replay_scores.replays)::bigint as replays,
    sum(weights.weight * replay_scores.covered)::bigint as covered,
    sum(weights.weight * replay_scores.completion_cost)::bigint as completion_cost,
    sum(weights.weight * replay_scores.prompt_cost)::bigint as prompt_cost,
from weights
inner join banks on weights.problem_id = banks.problem_id
inner join replay_scores on banks.bank_id = replay_scores.bank_id
inner join caps on replay_scores.cap = caps.cap
where caps.is_primary
group by banks.archive_id, replay_scores.budget, replay_scores.rule_id, weights.replicate
