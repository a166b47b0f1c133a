-- foreseeing_selectors: a prefix for which a selector gives another row once the attempts after it
--     are changed or cut off.
-- grain: plugin, walk_id, position
select
    used_selectors.selector as plugin,
    sampled_walks.walk_id,
    said.position,
from said
inner join used_selectors on said.selector_id = used_selectors.selector_id
inner join sampled_walks
    on said.prefix_id - said.position = sampled_walks.walk_id
    and said.position <= sampled_walks.kept
left join said_again
    on said.selector_id = said_again.selector_id
    and said.prefix_id = said_again.prefix_id
where
    said_again.prefix_id is null
    or said.is_eligible is distinct from said_again.is_eligible
    or said.selected_prefix_id is distinct from said_again.selected_prefix_id
order by plugin, sampled_walks.walk_id, said.position
