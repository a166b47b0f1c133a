-- portion_stops: primary_stops of the walks of the portion, kept while its totals are made.
-- grain: rule_id, walk_id, budget
with walked_attempts as (
    select walked.*
    from main.walked_attempts as walked
    semi join portion on walked.walk_id = portion.walk_id
)
select
    rule_id,
    walk_id,
    budget,
    launched,
    returned,
    cost,
    launched_prefix_id,
    returned_prefix_id,
from (
{% include 'budgets/primary_stops.sql' %}
)
