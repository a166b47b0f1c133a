-- live_eligible: the attempts that the selector may pick, by their slots.
-- grain: one row
select list(slot) as slots
from eligible_attempts
