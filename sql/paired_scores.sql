-- paired_scores: the weighted correct answers of both rules at the same budget, side by side.
-- grain: archive_id, budget, selector_id, replicate
select
    replicate_scores.archive_id,
    replicate_scores.budget,
    replicate_scores.selector_id,
    replicate_scores.replicate,
    any_value(replicate_scores.replays) as replays,
    any_value(replicate_scores.correct) filter (rules.rule = 'strict') as strict_correct,
    any_value(replicate_scores.correct) filter (rules.rule = 'advisory') as advisory_correct,
from replicate_scores
inner join rules on replicate_scores.rule_id = rules.rule_id
group by
    replicate_scores.archive_id,
    replicate_scores.budget,
    replicate_scores.selector_id,
    replicate_scores.replicate
