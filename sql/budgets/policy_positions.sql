-- policy_positions: the first position after which a policy launches nothing more from a walk under
--     a cap; a walk that it does not stop has no row or a null.
-- grain: policy_id, walk_id, cap
-- kept: on demand by walks
{% for policy in policies %}
select
    {{ loop.index }}::tinyint as policy_id,
    walk_id::bigint as walk_id,
    cap::integer as cap,
    stop_position::integer as stop_position,
from (
{{ policy.sql }}
)
where walk_id between coalesce(getvariable('first_walk'), 0)
    and coalesce(getvariable('last_walk'), 9223372036854775807)
{% if not loop.last %}
union all
{% endif %}
{% else %}
select
    null::tinyint as policy_id,
    walk_id,
    null::integer as cap,
    null::integer as stop_position,
from walks
where false
{% endfor %}
