-- whole_pool_walks: pool_walks at any budget.
-- grain: walk_id
{% set pools = 'whole_pools' %}
{% include 'terminals/pool_walks.sql' %}
