-- primary_limits: the limits that the primary cap alone sets, which the tables use.
-- grain: walk_id
from limits
where policy_id = 0 and is_primary
