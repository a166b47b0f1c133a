-- replicate_costs: weighted totals of an archive at the primary cap, whatever the selector; replicate 0 weighs every problem once.
-- grain: archive_id, budget, rule_id, replicate
with totals as (
    select
        banks.archive_id,
        replay_scores.budget,
        replay_scores.rule_id,
        any_value(replay_scores.replays) as replays,
        list(replay_scores.covered::double order by banks.problem_id) as covered,
        list(replay_scores.completion_cost::double order by banks.problem_id) as completion_cost,
    from replay_scores
    inner join banks on replay_scores.bank_id = banks.bank_id
    inner join caps on replay_scores.cap = caps.cap
    where caps.is_primary
    group by banks.archive_id, replay_scores.budget, replay_scores.rule_id
)
select
    totals.archive_id,
    totals.budget,
    totals.rule_id,
    archive_weights.replicate,
    archive_weights.draws * totals.replays as replays,
    list_dot_product(archive_weights.counts, totals.covered) as covered,
    list_dot_product(archive_weights.counts, totals.completion_cost) as completion_cost,
from totals
inner join archive_weights on totals.archive_id = archive_weights.archive_id
