-- prefix_selections: what every selector picks from every prefix, and whether the attempt at its end may be picked at all; an attempt goes by the prefix that ends with it.
-- grain: selector_id, prefix_id
{% for selector in selectors %}
select
    {{ loop.index }}::tinyint as selector_id,
    picked.walk_id + picked.position as prefix_id,
    picked.position,
    picked.is_eligible,
    picked.walk_id + picked.selected_position as selected_prefix_id,
from (
    with walked_attempts as (
        select walked.*
        from main.walked_attempts as walked
        semi join portion on walked.walk_id = portion.walk_id
    )
    select * from (
{{ selector.sql }}
    )
) as picked
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
