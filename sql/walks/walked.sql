-- walked: a walk attempt by attempt until the largest budget is spent, at most to the largest cap;
--     the canonical order goes through the whole bank.
-- grain: walk_id, position
-- kept: table by walks
{% include 'walks/walked.jinja' %}
