-- whole_pool_attempts: pool_attempts at any budget.
-- grain: walk_id, position
{% set pools = 'whole_pools' %}
{% set attempts = 'whole_attempts' %}
{% include 'terminals/pool_attempts.jinja' %}
