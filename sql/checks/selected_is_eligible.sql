-- selected_is_eligible: an answer comes from a returned attempt the selector may pick, and an
--     abstention from a pool without one
-- grain: one row
with prefixes_seen as (
    select
        *,
        count(*) filter (is_eligible) over (
            partition by selector_id, prefix_id - position order by position
        ) as eligible_so_far,
    from prefix_selections
)
select
    count(*) as looked_at,
    count(*) filter (
        (prefixes_seen.selected_prefix_id is null) <> (prefixes_seen.eligible_so_far = 0)
        or prefixes_seen.selected_prefix_id not between prefixes_seen.prefix_id - prefixes_seen.position + 1 and prefixes_seen.prefix_id
        or not coalesce(chosen.is_eligible, true)
    ) as violations,
from prefixes_seen
left join prefix_selections as chosen
    on prefixes_seen.selector_id = chosen.selector_id
    and prefixes_seen.selected_prefix_id = chosen.prefix_id
