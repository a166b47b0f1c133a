-- primary_changes: the changed_answers of the primary selector alone, which the tables use; nothing
--     is computed for the others.
-- grain: bank_id, rule, budget
{% set picks = 'whole_primary_picks' %}
{% include 'evaluation/changed_answers.sql' %}
