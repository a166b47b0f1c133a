-- primary_choices: terminal_choices of the primary selector alone, which the tables use.
-- grain: walk_id, budget, terminal
{% set picks = 'primary_picks' %}
{% include 'evaluation/terminal_choices.sql' %}
