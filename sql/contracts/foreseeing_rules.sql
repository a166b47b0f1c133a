-- foreseeing_rules: a walk that a rule ends elsewhere once the attempts after the launched ones
--     are changed or cut off; position is that of the last one launched.
-- grain: plugin, walk_id, position
select distinct
    said.rule as plugin,
    said.walk_id,
    least(said.launched, said_again.launched) as position,
from said
inner join sampled_walks on said.walk_id = sampled_walks.walk_id
left join said_again
    on said.rule = said_again.rule
    and said.walk_id = said_again.walk_id
    and said.cap = said_again.cap
    and said.budget = said_again.budget
where
    -- A walk that is cut off ends there at the latest.
    (said.launched <= sampled_walks.kept or said_again.launched < sampled_walks.kept)
    and (
        said.launched is distinct from said_again.launched
        or said.returned is distinct from said_again.returned
        or said.cost is distinct from said_again.cost
    )
order by plugin, said.walk_id, position
