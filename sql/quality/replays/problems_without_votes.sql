-- problems_without_votes: problems in which the primary selector may pick none of the attempts in canonical order up to the largest cap, of all.
-- grain: archive, level
select
    archive,
    null::bigint as level,
    count(*) filter (most_eligible = 0) as count,
    count(*) as total,
from (
    select
        archive,
        max(eligible_count) as most_eligible,
    from prefixes
    where repeat = 0
    group by archive, competition, question_id
)
group by archive
