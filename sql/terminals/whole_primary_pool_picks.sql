-- whole_primary_pool_picks: primary_pool_picks at any budget.
-- grain: pool_id
-- kept: on demand by walks
{% set is_primary = true %}
{% set pools = 'whole_pools' %}
{% set attempts = 'whole_pool_attempts' %}
{% set walks = 'whole_pool_walks' %}
{% include 'terminals/pool_picks.jinja' %}
