-- other_scores: primary_scores of the other selectors.
-- grain: archive, competition, question_id, budget, rule, selector
{% set answers = 'other_answers' %}
{% include 'evaluation/primary_scores.sql' %}
