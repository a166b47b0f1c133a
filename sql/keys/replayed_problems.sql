-- replayed_problems: the problems of each archive that are replayed: all that are loaded, or those that every given filter keeps; a name is itself before it is a pattern.
-- grain: archive, competition, question_id
select distinct
    archive,
    competition,
    question_id,
from attempts
where
    (
        not exists (from archive_filters)
        or archive in (select pattern from archive_filters)
        or exists (
            select 1
            from archive_filters
            where
                attempts.archive glob archive_filters.pattern
                and archive_filters.pattern not in (select archive from attempts)
        )
    )
    and (
        not exists (from competition_filters)
        or competition in (select pattern from competition_filters)
        or exists (
            select 1
            from competition_filters
            where
                attempts.competition glob competition_filters.pattern
                and competition_filters.pattern not in (select competition from attempts)
        )
    )
    and (
        not exists (from problem_filters)
        or (competition, question_id) in (select (competition, question_id) from problem_filters)
    )
