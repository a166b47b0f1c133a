-- numbered_archives: an archive, loaded or coming in, that knows problems of a competition by
--     numbers of its own.
-- grain: competition, archive
select distinct
    competition,
    archive,
from (
    select
        archive,
        competition,
    from attempts
    anti join problem_names using (competition, question_id)
    union all
    select
        archive,
        competition,
    from incoming
    where question_id >= 0
)
order by competition, archive
