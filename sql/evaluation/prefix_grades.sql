-- prefix_grades: the labels of the attempt that ends a prefix.
-- grain: prefix_id
select
    walked_attempts.prefix_id,
    walked_attempts.bank_id,
    walked_attempts.slot,
    candidate_grades.is_correct,
    candidate_grades.is_repaired_correct,
from walked_attempts
inner join candidate_grades
    on walked_attempts.bank_id = candidate_grades.bank_id
    and walked_attempts.slot = candidate_grades.slot
