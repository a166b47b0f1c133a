-- primary_changes: the answer_changes of the primary selector alone, which the tables use; nothing is computed for the others.
-- grain: archive, competition, question_id, rule, budget
{% set is_primary = true %}
{% include 'evaluation/answer_changes.sql' %}
