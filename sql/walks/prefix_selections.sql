-- prefix_selections: what every selector picks from every prefix, and whether the attempt at its
--     end may be picked at all; an attempt goes by the prefix that ends with it.
-- grain: selector_id, prefix_id
{% for selector in selectors %}
select
    {{ loop.index }}::tinyint as selector_id,
    picked.walk_id + picked.position as prefix_id,
    picked.position,
    picked.is_eligible,
    picked.walk_id + picked.selected_position as selected_prefix_id,
from (
{{ selector.sql }}
) as picked
where picked.walk_id between getvariable('first_walk') and getvariable('last_walk')
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
