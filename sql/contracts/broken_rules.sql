-- broken_rules: what is wrong with the rows of a rule; a rule that keeps its contract has no row.
-- grain: rule
with seen as (
    select
        used_rules.rule,
        count(stops.walk_id) as replays,
        sum(hash(stops.walk_id, stops.cap, stops.budget)) as replay_hash,
        count(*) filter (
            not coalesce(stops.returned between 0 and stops.launched, false)
            or stops.launched > stops.cap
            or not coalesce(stops.completion_cost >= 0, false)
        ) as impossible,
    from used_rules
    left join stops on used_rules.rule = stops.rule
    group by used_rules.rule
),
asked as (
    select
        count(*) as replays,
        sum(hash(bank_orders.walk_id, caps.cap, budgets.budget)) as replay_hash,
    from bank_orders
    cross join caps
    cross join budgets
)
select
    seen.rule,
    case
        when seen.replays <> asked.replays or seen.replay_hash is distinct from asked.replay_hash
        then 'needs exactly one row per walk_id, cap and budget'
        when seen.impossible > 0 then 'needs 0 <= returned <= launched <= cap and a completion_cost of 0 or more'
    end as broken,
from seen
cross join asked
where broken is not null
order by seen.rule
