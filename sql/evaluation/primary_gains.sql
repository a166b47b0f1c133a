-- primary_gains: paired_gains of the primary selector alone.
-- grain: archive, competition, question_id, budget
{% set scores = 'primary_scores' %}
{% include 'evaluation/paired_gains.sql' %}
