-- whole_attempts: walked_attempts to the largest cap, whatever they cost.
-- grain: walk_id, position
{% set walked = 'whole_walked' %}
{% include 'walks/known_attempts.jinja' %}
