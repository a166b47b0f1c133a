-- coverage: the first position whose attempt is eligible for the primary selector and labelled
--     correct; null where there is none.
-- grain: walk_id
select
    walks.walk_id,
    walks.bank_id,
    walks.repeat,
    any_value(graded_archives.is_graded) as is_graded,
    min(walked_attempts.position) filter (candidate_grades.is_correct) as covered_from,
from walks
inner join graded_archives on walks.archive_id = graded_archives.archive_id
inner join walked_attempts on walks.walk_id = walked_attempts.walk_id
left join eligible_attempts
    on walked_attempts.bank_id = eligible_attempts.bank_id
    and walked_attempts.slot = eligible_attempts.slot
    and eligible_attempts.is_primary
left join candidate_grades
    on eligible_attempts.bank_id = candidate_grades.bank_id
    and eligible_attempts.slot = candidate_grades.slot
where walks.walk_id between getvariable('first_walk') and getvariable('last_walk')
group by walks.walk_id, walks.bank_id, walks.repeat
