-- broken_policy_rules: what is wrong with the rows that a rule has under policies, where a cap is
--     the position at which a policy stops; a rule that keeps its contract has no row.
-- grain: rule
{% set limits = 'policy_limits' %}
{% include 'contracts/broken_rules.sql' %}
