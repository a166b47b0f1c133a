-- broken_rules: what is wrong with the rows of a rule; a rule that keeps its contract has no row.
-- grain: rule
-- Rows are compared by their number and by the sum of their hashes. Where both agree, every row is there once.
with budgeted_attempts as (
{% include 'budgets/budgeted_attempts.sql' %}
),
last_launched as (
{% include 'budgets/last_launched.sql' %}
),
reached_steps as (
{% include 'budgets/reached_steps.sql' %}
),
seen as (
{% for rule in rules %}
    select
        '{{ rule.name }}' as rule,
        count(*) as replays,
        sum(hash(stop.walk_id::bigint, stop.cap::bigint, stop.budget::bigint)) as replay_hash,
        count(*) filter (
            not coalesce(stop.returned between 0 and stop.launched, false)
            or stop.launched > stop.cap
            -- A walk may be shorter than its cap.
            or (launched.walk_id is null and stop.launched > 0)
            or stop.cost is null
        ) as impossible,
        count(*) filter (
            stop.cost not between coalesce(returned.cumulative_cost, 0) and coalesce(launched.cumulative_cost, 0)
        ) as unpaid,
    from (
{{ rule.sql }}
    ) as stop
    left join walked as returned
        on stop.walk_id = returned.walk_id
        and stop.returned = returned.position
    left join walked as launched
        on stop.walk_id = launched.walk_id
        and stop.launched = launched.position
{% if not loop.last %}
    union all
{% endif %}
{% endfor %}
),
asked as (
    select
        count(*) as replays,
        sum(hash(limits.walk_id::bigint, limits.cap::bigint, budgets.budget::bigint)) as replay_hash,
{% if limits is defined %}
    -- Several policies may stop a walk at the same position; the rules look at it once.
    from (select distinct walk_id, last_position as cap from policy_limits) as limits
{% else %}
    from (select walks.walk_id, caps.cap from walks cross join caps) as limits
{% endif %}
    cross join budgets
)
select
    seen.rule,
    case
        when seen.replays <> asked.replays or seen.replay_hash is distinct from asked.replay_hash
        then 'needs exactly one row per walk_id, cap and budget'
        when seen.impossible > 0 then 'needs 0 <= returned <= launched <= cap, no more than the bank holds, and a cost'
        when seen.unpaid > 0
        then 'needs a cost between the cost of what it returns and the cost of all that it launches'
    end as broken,
from seen
cross join asked
where broken is not null
order by seen.rule
