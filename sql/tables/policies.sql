-- policies: a controller that stops by itself, beside one that does not, under the same rule and
--     budget: accuracy, cost saved, and what ended its replays.
-- grain: archive, policy, rule, budget
with totals as (
    select
        archive,
        policy,
        rule,
        budget,
        sum(replays) as replays,
        sum(correct) as correct,
        sum(cost) as cost,
        sum(launched) as launched,
        sum(stopped_by_policy) as stopped_by_policy,
        sum(stopped_by_budget) as stopped_by_budget,
        sum(answer_kept) as answer_kept,
    from policy_totals
    group by archive, policy, rule, budget
)
select
    archive,
    policy,
    rule,
    budget,
    100 * correct / totals.replays as accuracy,
    delta,
    delta_low,
    delta_high,
    totals.cost / totals.replays as cost,
    cost_saved,
    cost_saved_low,
    cost_saved_high,
    launched / totals.replays as attempts,
    100 * stopped_by_policy / totals.replays as stopped_by_policy,
    100 * stopped_by_budget / totals.replays as stopped_by_budget,
    100 * (totals.replays - stopped_by_policy - stopped_by_budget) / totals.replays as stopped_by_cap,
    100 * answer_kept / totals.replays as answer_kept,
from totals
inner join interval_policies using (archive, policy, rule, budget)
order by archive, policy, rule, budget
