-- walked_attempts: walked, with what selection may know of its attempts: the relation that plug-ins
--     read.
-- grain: walk_id, position
{% include 'walks/known_attempts.jinja' %}
