-- whole_walked: a walk attempt by attempt to the largest cap; the canonical order goes through the
--     whole bank.
-- grain: walk_id, position
-- kept: on demand by walks
{% set reach = 'whole_reach' %}
{% include 'walks/walked.jinja' %}
