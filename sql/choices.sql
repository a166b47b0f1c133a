-- choices: what every selector picks from every prefix, and whether the attempt at its end may be picked at all.
-- grain: selector_id, walk_id, position
{% for selector in selectors %}
select
    selectors.selector_id,
    picks.walk_id,
    picks.position,
    picks.is_eligible,
    picks.selected_position,
    chosen.slot,
from selectors
cross join (
{{ selector.sql }}
) as picks
left join steps as chosen on picks.walk_id + picks.selected_position = chosen.walk_id + chosen.position
where selectors.selector = '{{ selector.name }}'
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
