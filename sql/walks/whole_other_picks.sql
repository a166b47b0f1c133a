-- whole_other_picks: other_picks of whole walks.
-- grain: selector_id, walk_id, from_position
-- kept: on demand by walks
{% set is_primary = false %}
with walked_attempts as not materialized (
    from whole_attempts
)
{% include 'walks/picks.jinja' %}
