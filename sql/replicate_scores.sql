-- replicate_scores: weighted totals of an archive and selector at the primary cap; replicate 0 weighs every problem once.
-- grain: archive_id, budget, rule_id, selector_id, replicate
with totals as (
    select
        banks.archive_id,
        selection_scores.budget,
        selection_scores.rule_id,
        selection_scores.selector_id,
        any_value(selection_scores.replays) as replays,
        list(selection_scores.correct::double order by banks.problem_id) as correct,
    from selection_scores
    inner join banks on selection_scores.bank_id = banks.bank_id
    inner join caps on selection_scores.cap = caps.cap
    where caps.is_primary
    group by banks.archive_id, selection_scores.budget, selection_scores.rule_id, selection_scores.selector_id
)
select
    totals.archive_id,
    totals.budget,
    totals.rule_id,
    totals.selector_id,
    archive_weights.replicate,
    archive_weights.draws * totals.replays as replays,
    list_dot_product(archive_weights.counts, totals.correct) as correct,
from totals
inner join archive_weights on totals.archive_id = archive_weights.archive_id
