-- interval_frontier: a point of cost and accuracy, whether another costs no more and is at least as accurate, one of them strictly, and in how many replicates none does.
-- grain: archive, policy, rule, budget
-- totals: frontier_totals
-- values: correct, cost
-- together: all
with ranked as (
    select
        *,
        -- Sums over the same problems and orders: whole numbers that compare as they are.
        coalesce(max(correct) over cheaper < correct, true) and max(correct) over as_cheap <= correct as is_best,
    from replicate_frontier
    window
        as_cheap as (partition by replicate order by cost range between unbounded preceding and current row),
        cheaper as (partition by replicate order by cost range between unbounded preceding and 1 preceding)
)
select
    archive,
    policy,
    rule,
    budget,
    any_value(draws) filter (replicate = 0) as draws,
    any_value(replays) filter (replicate = 0) as replays,
    any_value(correct) filter (replicate = 0) as correct,
    any_value(cost) filter (replicate = 0) as cost,
    bool_or(is_best) filter (replicate = 0) as is_best,
    100 * count(*) filter (is_best and replicate > 0) / nullif(count(*) filter (replicate > 0), 0) as best_share,
from ranked
group by archive, policy, rule, budget
