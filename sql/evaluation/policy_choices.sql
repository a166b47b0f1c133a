-- policy_choices: replay_selections at the primary cap under every policy.
-- grain: rule, policy_id, selector_id, walk_id, budget
{% set stops = 'policy_rule_stops' %}
{% include 'evaluation/replay_selections.sql' %}
