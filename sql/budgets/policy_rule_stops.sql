-- policy_rule_stops: where every rule stops at the primary cap under every policy; as in stops, with the policy's position as the walk's cap.
-- grain: rule, policy_id, walk_id, budget
with budgeted_attempts as (
    select
        walked_attempts.walk_id,
        halted.cap,
        budgets.budget,
        walked_attempts.position,
        walked_attempts.cost,
        walked_attempts.cumulative_cost,
        walked_attempts.is_end or walked_attempts.position = halted.cap as is_last,
    from walked_attempts
    inner join (select distinct walk_id, cap from policy_caps) as halted
        on walked_attempts.walk_id = halted.walk_id
        and walked_attempts.position <= halted.cap
    cross join budgets
),
last_launched as (
{% include 'budgets/last_launched.sql' %}
),
stopped as (
{% for rule in rules %}
    select
        '{{ rule.name }}' as rule,
        stop.walk_id,
        stop.cap,
        stop.budget,
        stop.launched,
        stop.returned,
        stop.cost,
    from (
{{ rule.sql }}
    ) as stop
{% if not loop.last %}
    union all
{% endif %}
{% endfor %}
)
select
    stopped.rule,
    policy_caps.policy_id,
    stopped.walk_id,
    stopped.budget,
    policy_caps.stop_position,
    stopped.launched,
    stopped.returned,
    stopped.cost,
    stopped.walk_id + stopped.launched as launched_prefix_id,
    stopped.walk_id + stopped.returned as returned_prefix_id,
from stopped
inner join policy_caps
    on stopped.walk_id = policy_caps.walk_id
    and stopped.cap = policy_caps.cap
