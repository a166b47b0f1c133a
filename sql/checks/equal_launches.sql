-- equal_launches: both rules launch the same attempts and pay the same prompts; where attempts have
--     steps, strict pays for no more prompts than advisory
-- grain: one row
with with_steps as (
    -- Strict stopping begins fewer steps of the attempt that it cuts.
    select distinct archive from steps
)
select
    count(*) as looked_at,
    count(*) filter (
        strict_launched <> advisory_launched
        or strict_prompt > advisory_prompt
        or (strict_prompt < advisory_prompt and with_steps.archive is null)
    ) as violations,
from paired_replays
inner join banks using (bank_id)
inner join archives using (archive_id)
left join with_steps on archives.archive = with_steps.archive
