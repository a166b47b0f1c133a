-- primary_pool_picks: what the primary selector picks from a pool, and whether it may pick the
--     checkpoint; a pool without any attempt that it may pick has no row.
-- grain: pool_id
-- kept: on demand by walks
{% set is_primary = true %}
{% include 'terminals/pool_picks.jinja' %}
