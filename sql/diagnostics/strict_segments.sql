-- strict_segments: neighbouring strict points by realized cost, costs and correct answers as weighted totals; the last point starts none.
-- grain: archive, replicate, left_budget
select
    archive,
    replicate,
    budget as left_budget,
    lead(budget) over by_cost as right_budget,
    strict_cost as left_cost,
    lead(strict_cost) over by_cost as right_cost,
    strict_correct as left_correct,
    lead(strict_correct) over by_cost as right_correct,
from paired_points
window by_cost as (partition by archive, replicate order by strict_cost, budget)
qualify right_budget is not null
