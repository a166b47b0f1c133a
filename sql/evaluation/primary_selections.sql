-- primary_selections: replay_selections at the primary cap alone, which the tables use.
-- grain: rule, selector_id, walk_id, budget
{% set stops = 'primary_stops' %}
{% include 'evaluation/replay_selections.sql' %}
