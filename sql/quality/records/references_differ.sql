-- references_differ: problems whose rows name different references, of those that name any.
-- grain: archive
select
    archive,
    count(*) filter (sets > 1) as count,
    count(*) as total,
from (
    select
        archive,
        max(references_id) as sets,
    from accepted_references
    where references_id > 0
    group by archive, competition, question_id
)
group by archive
