-- primary_stops: stops at the primary cap alone, without policies, which the tables use.
-- grain: rule_id, walk_id, budget
{% set limits = 'primary' %}
{% include 'budgets/stops.sql' %}
