-- eligible_attempts: the attempts that a selector may pick: those of the canonical order for which
--     it has a row.
-- grain: selector_id, candidate_id
-- kept: table
with walked_attempts as not materialized (
    from canonical_attempts
)
{% for number, selector in numbered %}
select
    {{ number }}::tinyint as selector_id,
    {{ 'true' if selector.name == primary else 'false' }} as is_primary,
    walked_attempts.bank_id,
    walked_attempts.slot,
    walked_attempts.candidate_id,
from walked_attempts
semi join (
{{ selector.sql }}
) as standings
    on walked_attempts.walk_id = standings.walk_id
    and walked_attempts.position = standings.position
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
