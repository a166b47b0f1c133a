-- interval_frontier: a point of cost and accuracy, whether another costs no more and is at least as
--     accurate, one of them strictly, and in what percent of replicates none does.
-- grain: archive, policy, rule, budget
-- totals: frontier_totals
-- values: correct, cost
-- intervals: is_best share
-- together: replicate
select
    *,
    -- Sums over the same problems and orders: whole numbers that compare as they are.
    coalesce(max(correct) over cheaper < correct, true) and max(correct) over as_cheap <= correct as is_best,
from replicate_frontier
window
    as_cheap as (partition by replicate order by cost range between unbounded preceding and current row),
    cheaper as (partition by replicate order by cost range between unbounded preceding and 1 preceding)
