-- paired_stops: the prefixes that both rules return from the same order at the primary cap, side by side.
-- grain: walk_id, budget
select
    strict.walk_id,
    strict.budget,
    strict.returned_prefix_id as strict_prefix_id,
    advisory.returned_prefix_id as advisory_prefix_id,
from primary_stops as strict
inner join primary_stops as advisory
    on strict.walk_id = advisory.walk_id
    and strict.budget = advisory.budget
where strict.rule = 'strict' and advisory.rule = 'advisory'
