-- reasoning_not_counted: attempts of which more reasoning than completion tokens are recorded, or
--     whose total has both beside the prompt, of those with a count of reasoning.
-- grain: archive
select
    archive,
    count(*) filter (
        reasoning_tokens > completion_tokens
        or (
            reasoning_tokens > 0
            and prompt_tokens > 0
            and total_tokens >= prompt_tokens + completion_tokens + reasoning_tokens
        )
    ) as count,
    count(*) as total,
from attempts
where reasoning_tokens is not null
group by archive
