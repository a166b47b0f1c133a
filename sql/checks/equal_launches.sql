-- equal_launches: both rules launch the same attempts and pay the same prompts
-- grain: one row
select
    count(*) as looked_at,
    count(*) filter (strict_launched <> advisory_launched or strict_prompt <> advisory_prompt) as violations,
from paired_replays
