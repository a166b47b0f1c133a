-- finding_realized_cost: of each archive, the smaller advisory budget that beats a larger strict one
--     most clearly at no more cost, or none; the one that costs least and may be as good; and the
--     smallest advisory budget that lies between two strict ones.
-- grain: archive, kind
with compared_pairs as (
    select
        *,
        -- A mean cost counts as comparable up to this ratio to the other rule's.
        1.05 as comparable,
        coalesce(delta_low > 0 or delta_high < 0, false) as is_clear,
    from cost_comparisons
    where delta is not null
),
better as (
    select *
    from compared_pairs
    where strict_budget > advisory_budget and delta > 0 and cost_ratio <= comparable
    qualify row_number() over (partition by archive order by delta desc, advisory_budget, strict_budget) = 1
),
cheaper as (
    select *
    from compared_pairs
    where
        strict_budget > advisory_budget
        and delta_low <= 0
        and delta_high >= 0
        and abs(delta) < 1.5
        and cost_ratio_high < 1
    qualify row_number() over (partition by archive order by cost_ratio, strict_budget, advisory_budget) = 1
),
between_two as (
    select *
    from interpolation
    where archive in (select archive from compared_pairs)
    qualify row_number() over (partition by archive order by advisory_budget) = 1
)
select * from (
    select *, 'better' as kind, 'cost_comparisons' as source from better
    union all by name
    select distinct archive, comparable, 'none' as kind, 'cost_comparisons' as source
    from compared_pairs
    where archive not in (select archive from better)
    union all by name
    select *, 'cheaper' as kind, 'cost_comparisons' as source from cheaper
    union all by name
    select *, 'line' as kind, 'interpolation' as source from between_two
)
order by archive, list_position(['better', 'none', 'cheaper', 'line'], kind)
