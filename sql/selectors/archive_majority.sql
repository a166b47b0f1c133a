-- archive_majority: the archive answer with the most votes so far; a tie goes to the answer seen
--     first, whose earliest attempt is chosen.
-- grain: walk_id, position
-- needs: answers
-- votes on: archive_answer
select
    walk_id,
    position,
    -- One integer orders (votes, first seen).
    row_number() over tally * 1000000000 - first_value(position) over tally as standing,
    first_value(candidate_id) over tally as candidate_id,
from walked_attempts
where is_archive_eligible
-- Answers are numbered within a bank, and walk_id leaves room for as many: one key is sorted faster than two.
window tally as (partition by walk_id + archive_answer_id order by position rows unbounded preceding)
