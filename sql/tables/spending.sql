-- spending: what a budget costs under a rule and what it saves and loses against no budget, what it
--     pays for no attempt, how often it cuts one off, and what a correct answer costs.
-- grain: archive, budget, rule
with pooled as (
    select
        banks.archive_id,
        stops.budget,
        stops.rule,
        quantile_cont(stops.cost::double, 0.95) as cost_p95,
        100 * count(*) filter (stops.returned < stops.launched) / count(*) as cut,
    from primary_stops as stops
    inner join walks on stops.walk_id = walks.walk_id
    inner join banks on walks.bank_id = banks.bank_id
    where walks.repeat > 0
    group by banks.archive_id, stops.budget, stops.rule
),
paid as (
    select archive, budget, rule, sum(prefix_cost) / sum(replays) as wasted,
    from problem_costs
    inner join problem_prompts using (bank_id, budget, rule)
    group by archive, budget, rule
)
select
    archive,
    budget,
    rule,
    100 * correct / replays as accuracy,
    lost,
    lost_low,
    lost_high,
    cost / replays as cost,
    pooled.cost_p95,
    saved,
    saved_low,
    saved_high,
    paid.wasted,
    pooled.cut,
    cost_per_correct,
    cost_per_correct_low,
    cost_per_correct_high,
from interval_spending
inner join paid using (archive, budget, rule)
inner join archives using (archive)
inner join pooled using (archive_id, budget, rule)
order by archive, budget, rule
