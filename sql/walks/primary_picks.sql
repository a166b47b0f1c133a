-- primary_picks: what the primary selector holds from one position of a walk until another; before
--     the first it picks nothing. The highest standing so far decides.
-- grain: walk_id, from_position
-- kept: table by walks
{% set is_primary = true %}
{% include 'walks/picks.jinja' %}
