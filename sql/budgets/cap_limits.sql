-- cap_limits: the limits that the caps alone set.
-- grain: walk_id, cap
from limits
where policy_id = 0
