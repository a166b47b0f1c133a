-- policy_rule_stops: stops at the primary cap under every policy.
-- grain: rule_id, policy_id, walk_id, budget
{% set limits = 'policy_limits' %}
{% include 'budgets/stops.sql' %}
