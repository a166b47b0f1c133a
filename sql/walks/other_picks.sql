-- other_picks: what the other selectors hold, as primary_picks.
-- grain: selector_id, walk_id, from_position
-- kept: on demand by walks
{% set is_primary = false %}
{% include 'walks/picks.jinja' %}
