-- paired_scores: the weighted correct answers of both rules at the same budget, side by side; replicate 0 weighs every problem once.
-- grain: archive_id, budget, selector_id, replicate
with totals as (
    select
        banks.archive_id,
        selection_scores.budget,
        selection_scores.selector_id,
        any_value(selection_scores.replays) as replays,
        list(selection_scores.correct::double order by banks.problem_id) filter (rules.rule = 'strict') as strict_correct,
        list(selection_scores.correct::double order by banks.problem_id) filter (rules.rule = 'advisory') as advisory_correct,
    from selection_scores
    inner join banks on selection_scores.bank_id = banks.bank_id
    inner join caps on selection_scores.cap = caps.cap
    inner join rules on selection_scores.rule_id = rules.rule_id
    where caps.is_primary
    group by banks.archive_id, selection_scores.budget, selection_scores.selector_id
)
select
    totals.archive_id,
    totals.budget,
    totals.selector_id,
    archive_weights.replicate,
    archive_weights.draws * totals.replays as replays,
    list_dot_product(archive_weights.counts, totals.strict_correct) as strict_correct,
    list_dot_product(archive_weights.counts, totals.advisory_correct) as advisory_correct,
from totals
inner join archive_weights on totals.archive_id = archive_weights.archive_id
