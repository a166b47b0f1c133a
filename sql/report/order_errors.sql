-- order_errors: how far a mean accuracy moves with the choice of random orders, and of problems:
--     standard errors in points.
-- grain: archive, budget, rule
select
    archive,
    budget,
    rule,
    any_value(replays) as orders,
    -- Correct or not: the variance over a problem's orders follows from how many are correct.
    100 * sqrt(sum(correct * (replays - correct) / (replays * replays * (replays - 1)))) / count(*) as order_error,
    100 * stddev_samp(correct / replays) / sqrt(count(*)) as problem_error,
from primary_scores
where correct is not null and replays > 1
group by archive, budget, rule
order by archive, budget, rule
