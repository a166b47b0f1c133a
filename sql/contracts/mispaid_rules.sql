-- mispaid_rules: a rule that pays less than the attempts it returns cost, or more than all that it launches.
-- grain: rule
{% for rule in rules %}
select
    '{{ rule.name }}' as rule,
    'needs a cost between the cost of what it returns and the cost of all that it launches' as broken,
from (
{{ rule.sql }}
) as stop
inner join walked_attempts as returned on stop.walk_id + stop.returned = returned.prefix_id
inner join walked_attempts as launched on stop.walk_id + stop.launched = launched.prefix_id
where stop.cost not between returned.cumulative_cost and launched.cumulative_cost
group by all
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
