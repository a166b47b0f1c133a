-- segments: neighbouring strict points by realized cost, costs and correct answers as weighted totals; the last point starts none.
-- grain: archive_id, replicate, left_budget
select
    paired_costs.archive_id,
    paired_costs.replicate,
    paired_costs.budget as left_budget,
    lead(paired_costs.budget) over by_cost as right_budget,
    paired_costs.strict_cost as left_cost,
    lead(paired_costs.strict_cost) over by_cost as right_cost,
    paired_scores.strict_correct as left_correct,
    lead(paired_scores.strict_correct) over by_cost as right_correct,
from paired_costs
inner join paired_scores
    on paired_costs.archive_id = paired_scores.archive_id
    and paired_costs.budget = paired_scores.budget
    and paired_costs.replicate = paired_scores.replicate
inner join selectors on paired_scores.selector_id = selectors.selector_id
where selectors.is_primary
window by_cost as (
    partition by paired_costs.archive_id, paired_costs.replicate
    order by paired_costs.strict_cost, paired_costs.budget
)
qualify right_budget is not null
