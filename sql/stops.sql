-- stops: where every rule stops: attempts launched, attempts returned, completion tokens paid.
-- grain: rule_id, walk_id, cap, budget
{% for rule in rules %}
select
    rules.rule_id,
    stop.walk_id,
    stop.cap,
    stop.budget,
    stop.launched,
    stop.returned,
    stop.completion_cost,
from rules
cross join (
{{ rule.sql }}
) as stop
where rules.rule = '{{ rule.name }}'
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
