-- stops: where every rule stops: attempts launched, attempts returned, completion tokens paid, and the prefixes that end there.
-- grain: rule, walk_id, cap, budget
{% for rule in rules %}
select
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
