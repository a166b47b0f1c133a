-- whole_primary_picks: primary_picks of whole walks.
-- grain: walk_id, from_position
-- kept: on demand by walks
{% set is_primary = true %}
with walked_attempts as not materialized (
    from whole_attempts
)
{% include 'walks/picks.jinja' %}
