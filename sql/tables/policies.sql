-- policies: a controller that stops by itself, beside one that does not, under the same rule and budget: accuracy, tokens saved, and what ended its replays.
-- grain: archive, policy, rule, budget
with intervals as (
    select
        archive,
        policy,
        rule,
        budget,
        any_value(100 * gained / replays) filter (replicate = 0) as delta,
        quantile_cont(100 * gained / replays, [0.025, 0.975]) filter (replicate > 0) as delta_ends,
        any_value(100 * (whole_cost - cost) / whole_cost) filter (replicate = 0) as cost_saved,
        quantile_cont(100 * (whole_cost - cost) / whole_cost, [0.025, 0.975]) filter (replicate > 0) as saved_ends,
    from replicate_policies
    group by archive, policy, rule, budget
),
totals as (
    select
        archive,
        policy,
        rule,
        budget,
        sum(replays) as replays,
        sum(correct) as correct,
        sum(completion_cost) as cost,
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
    100 * correct / replays as accuracy,
    delta,
    delta_ends[1] as delta_low,
    delta_ends[2] as delta_high,
    cost / replays as cost,
    cost_saved,
    saved_ends[1] as cost_saved_low,
    saved_ends[2] as cost_saved_high,
    launched / replays as attempts,
    100 * stopped_by_policy / replays as stopped_by_policy,
    100 * stopped_by_budget / replays as stopped_by_budget,
    100 * (replays - stopped_by_policy - stopped_by_budget) / replays as stopped_by_cap,
    100 * answer_kept / replays as answer_kept,
from totals
inner join intervals using (archive, policy, rule, budget)
order by archive, policy, rule, budget
