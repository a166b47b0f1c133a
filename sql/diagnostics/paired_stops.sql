-- paired_stops: how many attempts both rules return from the same order at the primary cap, side by
--     side.
-- grain: walk_id, budget
select
    strict.walk_id,
    strict.bank_id,
    strict.repeat,
    strict.budget,
    strict.returned as strict_returned,
    advisory.returned as advisory_returned,
from primary_stops as strict
inner join primary_stops as advisory
    on strict.walk_id = advisory.walk_id
    and strict.budget = advisory.budget
where strict.rule = 'strict' and advisory.rule = 'advisory'
