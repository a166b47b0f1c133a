-- primary_stops: stops at the primary cap alone, which the tables use; the rules never see another cap, so nothing is computed for one.
-- grain: rule, walk_id, budget
{% for rule in rules %}
select
    {{ loop.index }}::tinyint as rule_id,
    '{{ rule.name }}' as rule,
    stop.walk_id,
    stop.cap,
    stop.budget,
    stop.launched,
    stop.returned,
    stop.completion_cost,
    stop.walk_id + stop.launched as launched_prefix_id,
    stop.walk_id + stop.returned as returned_prefix_id,
from (
    with capped_attempts as (
        select * from (
{% include 'budgets/capped_attempts.sql' %}
        )
        where is_primary
    ),
    budgeted_attempts as (
{% include 'budgets/budgeted_attempts.sql' %}
    ),
    last_launched as (
{% include 'budgets/last_launched.sql' %}
    )
    select * from (
{{ rule.sql }}
    )
) as stop
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
