-- same_walk: the one order is the canonical one, and it is walked whole.
-- grain: walk_id, position
from walked_attempts
