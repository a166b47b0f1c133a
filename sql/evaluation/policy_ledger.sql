-- policy_ledger: the ledger at the primary cap under every policy.
-- grain: rule, policy_id, walk_id, budget
{% set stops = 'policy_rule_stops' %}
{% include 'evaluation/ledger.sql' %}
