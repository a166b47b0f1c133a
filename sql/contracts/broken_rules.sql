-- broken_rules: what is wrong with the rows of a rule; a rule that keeps its contract has no row.
-- grain: rule
-- Rows are compared by their number and by the sum of their hashes. Where both agree, every row is there once.
with seen as (
{% for rule in rules %}
    select
        '{{ rule.name }}' as rule,
        count(*) as replays,
        sum(hash(stop.walk_id::bigint, stop.cap::bigint, stop.budget::bigint)) as replay_hash,
        count(*) filter (
            not coalesce(stop.returned between 0 and stop.launched, false)
            or stop.launched > stop.cap
            or not coalesce(stop.cost >= 0, false)
        ) as impossible,
    from (
{{ rule.sql }}
    ) as stop
{% if not loop.last %}
    union all
{% endif %}
{% endfor %}
),
asked as (
    select
        count(*) as replays,
        sum(hash(walks.walk_id::bigint, caps.cap::bigint, budgets.budget::bigint)) as replay_hash,
    from walks
    cross join caps
    cross join budgets
)
select
    seen.rule,
    case
        when seen.replays <> asked.replays or seen.replay_hash is distinct from asked.replay_hash
        then 'needs exactly one row per walk_id, cap and budget'
        when seen.impossible > 0 then 'needs 0 <= returned <= launched <= cap and a cost of 0 or more'
    end as broken,
from seen
cross join asked
where broken is not null
order by seen.rule
