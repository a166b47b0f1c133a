-- policy_limits: the limits that policies set at the primary cap.
-- grain: walk_id, policy_id
from limits
where policy_id > 0
