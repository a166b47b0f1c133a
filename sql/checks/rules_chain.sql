-- rules_chain: strict, step_lost and attempt_lost return alike, step no fewer, advisory most; costs
--     rise from strict over step to advisory
-- grain: one row
with single as (
    -- A rule that stops twice is a violation, and no key of a map.
    select walk_id, cap, budget, rule, min(returned) as returned, min(cost) as cost, count(*) as times,
    from stops
    group by walk_id, cap, budget, rule
),
paired as (
    select
        map_from_entries(list((rule, returned))) as returned,
        map_from_entries(list((rule, cost))) as cost,
        max(times) as times,
    from single
    group by walk_id, cap, budget
)
select
    count(*) as looked_at,
    count(*) filter (
        times > 1
        or returned['strict'] <> returned['step_lost']
        or returned['strict'] <> returned['attempt_lost']
        or returned['strict'] > returned['step']
        or returned['step'] > returned['advisory']
        or returned['strict'] > returned['advisory']
        or cost['strict'] > cost['step']
        or cost['strict'] > cost['step_lost']
        or cost['step'] <> cost['step_lost']
        or cost['step'] > cost['advisory']
        or cost['step_lost'] > cost['advisory']
        or cost['strict'] > cost['advisory']
        or cost['advisory'] <> cost['attempt_lost']
    ) as violations,
from paired
