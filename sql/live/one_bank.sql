-- one_bank: the bank of the attempts that a controller records, as large as the cap.
-- grain: bank_id
select
    1 as bank_id,
    1 as archive_id,
    1 as problem_id,
    cap as bank_size,
    0 as first_candidate,
from caps
