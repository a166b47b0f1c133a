-- portion_policy_rule_stops: policy_rule_stops of the walks of the portion, kept while its totals are made.
-- grain: rule, policy_id, walk_id, budget
{% if policies %}
with walked_attempts as (
    select walked.*
    from main.walked_attempts as walked
    semi join portion on walked.walk_id = portion.walk_id
),
walks as (
    from portion
),
policy_caps as (
{% include 'budgets/policy_caps.sql' %}
)
select * from (
{% include 'budgets/policy_rule_stops.sql' %}
)
{% else %}
from policy_rule_stops
where false
{% endif %}
