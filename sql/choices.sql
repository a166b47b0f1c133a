-- choices: what every selector picks from every prefix, and whether the attempt at its end may be picked at all.
-- grain: selector_id, bank_id, repeat, position
{% for selector in selectors %}
select
    selectors.selector_id,
    picks.bank_id,
    picks.repeat,
    picks.position,
    picks.is_eligible,
    picks.selected_position,
from selectors
cross join (
{{ selector.sql }}
) as picks
where selectors.selector = '{{ selector.name }}'
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
