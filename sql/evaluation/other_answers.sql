-- other_answers: primary_answers of the other selectors.
-- grain: selector_id, bank_id, budget, rule
-- kept: on demand by walks
{% set picks = 'other_picks' %}
{% include 'evaluation/primary_answers.sql' %}
