-- paired_points: the weighted totals of both rules at the same budget, side by side: replicate_costs and the primary selector's replicate_scores with a column for each rule.
-- grain: archive, budget, replicate
select
    strict.archive,
    strict.budget,
    strict.replicate,
    strict.replays,
    strict_score.correct as strict_correct,
    advisory_score.correct as advisory_correct,
    strict.covered as strict_covered,
    advisory.covered as advisory_covered,
    strict.completion_cost as strict_cost,
    advisory.completion_cost as advisory_cost,
    strict.prompt_cost as strict_prompt,
    advisory.prompt_cost as advisory_prompt,
from replicate_costs as strict
inner join replicate_costs as advisory using (archive, budget, replicate)
inner join replicate_scores as strict_score using (archive, budget, replicate)
inner join replicate_scores as advisory_score using (archive, budget, replicate)
where
    strict.rule = 'strict'
    and advisory.rule = 'advisory'
    and strict_score.rule = 'strict'
    and strict_score.is_primary
    and advisory_score.rule = 'advisory'
    and advisory_score.is_primary
