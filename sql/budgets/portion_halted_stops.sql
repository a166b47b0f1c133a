-- portion_halted_stops: halted_stops of the walks of the portion, kept while its totals are made.
-- grain: rule, policy_id, walk_id, budget
{% if policies %}
with walked_attempts as (
    select walked.*
    from main.walked_attempts as walked
    semi join portion on walked.walk_id = portion.walk_id
),
bank_orders as (
    from portion
),
policy_caps as (
{% include 'budgets/policy_caps.sql' %}
)
select * from (
{% include 'budgets/halted_stops.sql' %}
)
{% else %}
from halted_stops
where false
{% endif %}
