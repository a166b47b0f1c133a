-- stops: where every rule ends a walk within a limit, at every cap: attempts launched, attempts
--     returned and what is paid.
-- grain: rule_id, walk_id, cap, budget
with budgeted_attempts as (
{% include 'budgets/budgeted_attempts.sql' %}
),
last_launched as (
{% include 'budgets/last_launched.sql' %}
),
reached_steps as (
{% include 'budgets/reached_steps.sql' %}
)
select
    stopped.rule_id,
    stopped.rule,
    stopped.walk_id,
    walks.bank_id,
    walks.repeat,
    stopped.cap,
    stopped.budget,
    stopped.launched,
    stopped.returned,
    stopped.cost,
{% if limits is defined and limits == 'policy_limits' %}
    policy_limits.policy_id,
    policy_limits.stop_position,
{% endif %}
from (
{% for rule in rules %}
    select
        {{ loop.index }}::tinyint as rule_id,
        '{{ rule.name }}' as rule,
        stop.walk_id,
        stop.cap,
        stop.budget,
        stop.launched::integer as launched,
        stop.returned::integer as returned,
        stop.cost,
    from (
{{ rule.sql }}
    ) as stop
{% if not loop.last %}
    union all
{% endif %}
{% endfor %}
) as stopped
inner join walks on stopped.walk_id = walks.walk_id
{% if limits is defined and limits == 'policy_limits' %}
inner join policy_limits
    on stopped.walk_id = policy_limits.walk_id
    and stopped.cap = policy_limits.last_position
{% endif %}
