-- reasoning_not_counted: attempts of which more reasoning than completion tokens are recorded, of those with a count of reasoning.
-- grain: archive
select
    archive,
    count(*) filter (reasoning_tokens > completion_tokens) as count,
    count(*) as total,
from attempts
where reasoning_tokens is not null
group by archive
