-- replicate_scores: weighted totals of an archive and selector at the primary cap; replicate 0 weighs every problem once.
-- grain: archive_id, budget, rule_id, selector_id, replicate
select
    banks.archive_id,
    selection_scores.budget,
    selection_scores.rule_id,
    selection_scores.selector_id,
    weights.replicate,
    sum(weights.weight * selection_scores.replays)::bigint as replays,
    sum(weights.weight * selection_scores.correct)::bigint as correct,
from weights
inner join banks on weights.problem_id = banks.problem_id
inner join selection_scores on banks.bank_id = selection_scores.bank_id
inner join caps on selection_scores.cap = caps.cap
where caps.is_primary
group by
    banks.archive_id,
    selection_scores.budget,
    selection_scores.rule_id,
    selection_scores.selector_id,
    weights.replicate
