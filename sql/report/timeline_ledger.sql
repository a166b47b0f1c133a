-- timeline_ledger: what each rule of the run launches, returns, pays and selects in one order at a
--     budget, whether that was replayed or not, in the order of $rules.
-- grain: rule
with timeline_attempts as (
{% include 'report/timeline_attempts.sql' %}
),
timeline_picks as (
{% include 'report/timeline_picks.sql' %}
),
launches as (
    select
        count(*) as launched,
        count(*) filter (stop <= $budget) as finished,
        max(stop) as attempt_stop,
        -- The first step that reaches the budget, or the last one.
        coalesce(
            list_min(list_filter(arg_max(steps, position), lambda step: step >= $budget)),
            attempt_stop
        ) as step_stop,
    from timeline_attempts
    where start < $budget
),
ledgers as (
    select
        lanes.lane,
        lanes.name as rule,
        launches.launched,
        case lanes.pool
            when 'strict' then launches.finished
            when 'step' then launches.launched - (launches.step_stop < launches.attempt_stop)::bigint
            else launches.launched
        end as returned,
        case lanes.price
            when 'strict' then least($budget, launches.attempt_stop)
            when 'step' then launches.step_stop
            else launches.attempt_stop
        end as cost,
    from launches
    cross join (
        select generate_subscripts($rules, 1) as lane, unnest($rules, recursive := true)
    ) as lanes
)
select
    ledgers.rule,
    $budget as budget,
    ledgers.launched,
    ledgers.returned,
    count(*) filter (timeline_attempts.eligible) as eligible,
    ledgers.cost,
    ledgers.cost - coalesce(max(timeline_attempts.stop), 0) as prefix_cost,
    any_value(timeline_picks.position) is null as abstained,
    any_value(timeline_picks.seed) as seed,
    any_value(timeline_picks.answer) as answer,
    any_value(timeline_picks.correct) as correct,
from ledgers
left join timeline_attempts on ledgers.returned >= timeline_attempts.position
left join timeline_picks on ledgers.returned = timeline_picks.position
group by ledgers.lane, ledgers.rule, ledgers.launched, ledgers.returned, ledgers.cost
order by ledgers.lane
