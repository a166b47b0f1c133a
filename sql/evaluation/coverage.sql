-- coverage: the first position whose attempt is eligible for the primary selector and labelled
--     correct; null where there is none before the largest budget is spent.
-- grain: walk_id
-- kept: table by walks
select
    walks.walk_id,
    walks.bank_id,
    walks.repeat,
    graded_archives.is_graded,
    covered.covered_from,
from walks
inner join graded_archives on walks.archive_id = graded_archives.archive_id
left join (
    select
        walked.walk_id,
        min(walked.position) as covered_from,
    from {{ walked | default('walked') }} as walked
    inner join candidate_grades on walked.candidate_id = candidate_grades.candidate_id
    where
        candidate_grades.is_covering
        and walked.walk_id between coalesce(getvariable('first_walk'), 0)
        and coalesce(getvariable('last_walk'), 9223372036854775807)
    group by walked.walk_id
) as covered
    on walks.walk_id = covered.walk_id
where
    walks.walk_id between coalesce(getvariable('first_walk'), 0)
    and coalesce(getvariable('last_walk'), 9223372036854775807)
