-- archives: one row per replayed archive, numbered in ascending name order.
-- grain: archive_id
-- kept: table
select
    row_number() over (order by archive)::integer as archive_id,
    archive,
from (select distinct archive from replayed_problems)
