-- primary_stops: stops at the primary cap alone, without policies, which the tables use.
-- grain: rule_id, walk_id, budget
-- kept: table by walks
{% set limits = 'primary' %}
{% include 'budgets/stops.sql' %}
