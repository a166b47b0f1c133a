-- primary_stops: stops at the primary cap alone, which the tables use; the rules never see another cap, so nothing is computed for one.
-- grain: rule, walk_id, budget
with budgeted_attempts as not materialized (
    select
        walked_attempts.walk_id,
        caps.cap,
        budgets.budget,
        walked_attempts.position,
        walked_attempts.cost,
        walked_attempts.cumulative_cost,
        walked_attempts.is_end or walked_attempts.position = caps.cap as is_last,
    from walked_attempts
    inner join caps on walked_attempts.position <= caps.cap and caps.is_primary
    cross join budgets
),
last_launched as materialized (
{% include 'budgets/last_launched.sql' %}
)
{% for rule in rules %}
select
    {{ loop.index }}::tinyint as rule_id,
    '{{ rule.name }}' as rule,
    stop.walk_id,
    stop.cap,
    stop.budget,
    stop.launched,
    stop.returned,
    stop.cost,
    stop.walk_id + stop.launched as launched_prefix_id,
    stop.walk_id + stop.returned as returned_prefix_id,
from (
{{ rule.sql }}
) as stop
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
