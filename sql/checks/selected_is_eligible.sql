-- selected_is_eligible: an answer comes from a returned attempt the selector may pick, and an abstention from a pool without one
-- grain: one row
with prefixes_seen as (
    select
        choices.*,
        count(*) filter (choices.is_eligible) over (
            partition by choices.selector_id, choices.walk_id order by choices.position
        ) as eligible_so_far,
    from choices
)
select
    count(*) as looked_at,
    count(*) filter (
        (prefixes_seen.selected_position is null) <> (prefixes_seen.eligible_so_far = 0)
        or prefixes_seen.selected_position > prefixes_seen.position
        or not coalesce(chosen.is_eligible, true)
    ) as violations,
from prefixes_seen
left join choices as chosen
    on prefixes_seen.selector_id = chosen.selector_id
    and prefixes_seen.walk_id + prefixes_seen.selected_position = chosen.walk_id + chosen.position
