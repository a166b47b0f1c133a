-- other_pool_picks: what the other selectors pick from a pool, as primary_pool_picks.
-- grain: selector_id, pool_id
-- kept: on demand by walks
{% set is_primary = false %}
{% include 'terminals/pool_picks.jinja' %}
