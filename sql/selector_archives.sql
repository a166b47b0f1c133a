-- selector_archives: the archives in which a selector has any eligible attempt; the canonical order shows every attempt.
-- grain: selector_id, archive_id
select distinct
    choices.selector_id,
    banks.archive_id,
from choices
inner join banks on choices.bank_id = banks.bank_id
where choices.repeat = 0 and choices.is_eligible
