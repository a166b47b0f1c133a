-- unknown_finish_reasons: attempts that ended for a reason with no known meaning, of all.
-- grain: archive
select
    archive,
    count(*) filter (
        finish_reason not in ('stop', 'length', 'content_filter', 'tool_calls', 'function_call', 'error')
    ) as count,
    count(*) as total,
from attempts
group by archive
