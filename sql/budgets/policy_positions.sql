-- policy_positions: the first position after which a policy launches nothing more from a walk under a cap; a walk that it does not stop has no row or a null.
-- grain: policy_id, walk_id, cap
{% if policies %}
with walked_attempts as (
    select walked.*
    from main.walked_attempts as walked
    semi join portion on walked.walk_id = portion.walk_id
),
prefix_votes as (
{% include 'walks/prefix_votes.sql' %}
),
tallies as materialized (
{% include 'walks/tallies.sql' %}
)
{% for policy in policies %}
select
    {{ loop.index }}::tinyint as policy_id,
    walk_id::bigint as walk_id,
    cap::integer as cap,
    stop_position::integer as stop_position,
from (
{{ policy.sql }}
)
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
{% else %}
select
    0::tinyint as policy_id,
    0::bigint as walk_id,
    0::integer as cap,
    null::integer as stop_position,
where false
{% endif %}
