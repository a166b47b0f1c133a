-- pool_attempts: the attempts of a pool, as walked_attempts has them; the last one is the checkpoint,
--     of which nothing but its answer is known, and whose candidate_id is below 0.
-- grain: walk_id, position
{% include 'terminals/pool_attempts.jinja' %}
