-- stops: where every rule ends a walk within a limit, at every cap: attempts launched, attempts
--     returned, what is paid, and the prefixes that end there.
-- grain: rule_id, walk_id, cap, policy_id, budget
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
    used_rules.rule,
    limits.walk_id,
    limits.cap,
    limits.policy_id,
    limits.stop_position,
    stopped.budget,
    stopped.launched,
    stopped.returned,
    stopped.cost,
    limits.walk_id + stopped.launched as launched_prefix_id,
    limits.walk_id + stopped.returned as returned_prefix_id,
from (
{% for rule in rules %}
    select
        {{ loop.index }}::tinyint as rule_id,
        stop.walk_id,
        stop.cap as last_position,
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
) as stopped
inner join used_rules on stopped.rule_id = used_rules.rule_id
inner join {{ limits | default('cap_limits') }} as limits
    on stopped.walk_id = limits.walk_id
    and stopped.last_position = limits.last_position
