-- replayed_problems: the problems of each archive that are replayed: all that are loaded, or those
--     that every given filter names.
-- grain: archive, competition, question_id
-- kept: table
select distinct
    archive,
    competition,
    question_id,
from attempts
where
    (not exists (from archive_filters) or archive in (select archive from archive_filters))
    and (not exists (from competition_filters) or competition in (select competition from competition_filters))
    and (
        not exists (from problem_filters)
        or (competition, question_id) in (select (competition, question_id) from problem_filters)
    )
