-- foreseeing_selectors: a position from which a selector picks something else once the attempts
--     after it are changed or cut off.
-- grain: plugin, walk_id, position
with picked as (
    select selector_id, walk_id, from_position, slot, true as is_first from said
    union all
    select selector_id, walk_id, from_position, slot, false from said_again
)
select
    used_selectors.selector as plugin,
    picked.walk_id,
    picked.from_position as position,
from picked
inner join used_selectors on picked.selector_id = used_selectors.selector_id
inner join sampled_walks
    on picked.walk_id = sampled_walks.walk_id
    and picked.from_position <= sampled_walks.kept
group by used_selectors.selector, picked.walk_id, picked.from_position
having min(picked.slot) filter (picked.is_first) is distinct from min(picked.slot) filter (not picked.is_first)
order by plugin, picked.walk_id, position
