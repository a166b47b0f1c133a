-- costs_constant: attempts, counted where all of an archive cost the same.
-- grain: archive
select
    archive,
    if(min(completion_tokens) = max(completion_tokens), count(*), 0) as count,
    count(*) as total,
from attempts
group by archive
